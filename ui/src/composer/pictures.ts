/**
 * Pictures on their way into a message: from the button, the clipboard or a drop. SPEC U4, C4.
 *
 * Owns: what is let through, and turning a file into base64. What a picture really is, is decided by
 * the core from its bytes, never here.
 */
import { t } from '../text';

/** Largest picture that is taken, bytes; the same limit as the core's. */
export const MAX_PICTURE_BYTES = 20_000_000;

const accepted = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** For the file dialog. */
export const acceptedPictures = accepted.join(',');

/** Why `file` cannot be attached; empty when it can be tried. */
export function refusal(file: File): string {
  const name = nameOf(file);
  if (!accepted.includes(file.type)) return t('composer.not_a_picture', { name });
  if (file.size > MAX_PICTURE_BYTES) return t('composer.picture_large', { name });
  return '';
}

/** Its name for display; pasted pictures often have none. */
export function nameOf(file: File): string {
  return file.name || `picture.${file.type.split('/')[1] ?? 'png'}`;
}

/** Files that a paste or drop brings along. */
export function filesOf(data: DataTransfer | null): File[] {
  return data ? Array.from(data.files) : [];
}

/** The bytes of `file` as base64. */
export async function base64Of(file: File): Promise<string> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'));
    reader.readAsDataURL(file);
  });
  return address.slice(address.indexOf(',') + 1);
}
