/**
 * Lets a text field grow with what is typed; its `max-height` is the limit.
 *
 * Owns: the height of one field. For engines without `field-sizing: content`.
 */
export function grow(field: HTMLTextAreaElement, _text: string): { update(text: string): void } {
  function fit(): void {
    field.style.height = 'auto';
    // Nothing is laid out yet, or nothing ever is: the rows of the field say how high it is.
    if (field.scrollHeight > 0)
      field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }
  fit();
  return { update: fit };
}
