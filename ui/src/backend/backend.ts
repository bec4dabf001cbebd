// The page's only door to the core. Features use this interface; what stands behind it is
// the shell (tauri.ts) or a replayed log (fake.ts).
import type { ApiError, BlobId, ErrorCode, Event, MethodResults, Request } from '../bindings';

/** Wire names of all methods. */
export type Method = Request['method'];

/** Parameters of one method. */
export type ParamsOf<M extends Method> = Extract<Request, { method: M }>['params'];

/** Result of one method. */
export type ResultOf<M extends Method> = MethodResults[M];

/** Ends a subscription; calling it twice is harmless. */
export type Unsubscribe = () => void;

/** The small picture in the transcript, or the one that opens. */
export type PictureSize = 'full' | 'thumb';

/** What the page may do to the window around it. */
export interface WindowBridge {
  /** Sets the window's title. The shell mirrors the document's title. */
  setTitle(title: string): void;
}

export interface Backend {
  /** Asks the core. Rejects with {@link RequestFailed}. */
  request<M extends Method>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>>;
  /** Hears every event of the window's project, in order. */
  subscribe(handler: (event: Event) => void): Unsubscribe;
  /** Address of a stored picture, for `<img src>`. */
  pictureUrl(blob: BlobId, size: PictureSize): string;
  /** The window around the page. */
  window(): WindowBridge;
}

/** A refusal of the core. `code` is all that the page may branch on; `message` is for the person. */
export class RequestFailed extends Error implements ApiError {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'RequestFailed';
    this.code = code;
  }

  /** Makes one out of whatever was thrown, so that handlers know only this type. */
  static from(cause: unknown): RequestFailed {
    if (cause instanceof RequestFailed) return cause;
    if (isApiError(cause)) return new RequestFailed(cause.code, cause.message);
    const words = cause instanceof Error ? cause.message : String(cause);
    return new RequestFailed('internal', words);
  }
}

function isApiError(value: unknown): value is ApiError {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as ApiError).code === 'string' &&
    typeof (value as ApiError).message === 'string'
  );
}

/** A new id for an envelope: a repeat of the same one is dropped by the core. */
export function newClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
