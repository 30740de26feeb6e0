import type { Context } from "../../core/ports/context.ts";

/** What the load of a page needs of its request, or of its task if a job loads the page. */
export interface PageWork extends Pick<Context, "platform" | "url" | "waitUntil"> {
  /** The client whose limits of tabs and queue places apply. */
  readonly client: string;
  /** Aborts when the client that waits for the answer leaves; absent if no client waits. */
  readonly signal?: AbortSignal | undefined;
}
