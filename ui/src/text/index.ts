/** The message table: the only door to the words of the window. */
export { chooseLanguage, language, languages, t, tMaybe } from './text.svelte';
export type { Message, MessageKey, Messages } from './text.svelte';
export { chipTitle } from './characters';
export { plainly } from './visible';
export { clockTime, dayOf, shortBytes, shortCount } from './numbers';
