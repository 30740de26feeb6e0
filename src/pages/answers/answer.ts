import { sha256Hex } from "../../core/encoding/hash.ts";
import type { AnswerBody } from "../../core/ports/pages.ts";

/** A new answer of any operation of the page service: a picture, a PDF or JSON. */
export interface NewAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Headers that belong to the body; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the answer was made, milliseconds since the epoch. */
  readonly madeAt: number;
  /** Seconds for which other requests may get this answer. */
  readonly lifetime: number;
}

/** An answer that several requests can share. */
export interface ServableAnswer extends Omit<NewAnswer, "body"> {
  readonly body: AnswerBody;
  /** Length of the body in bytes. */
  readonly length: number;
  /** Entity tag: unique among all bodies of the same address. ASCII without quotation marks. */
  readonly entityTag: string;
  /** True if the answer came from the cache, or from a job. */
  readonly isHit: boolean;
  /** True if the answer is older than requested; a new one is being made. */
  readonly isStale?: boolean;
  /** Converts the body to the requested form. Runs only when the body is needed. */
  readonly convertBody?: (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
}

/** Adds the length and the entity tag of a body; computed only once per answer. */
export async function withEntityTag(answer: NewAnswer): Promise<ServableAnswer & NewAnswer> {
  return {
    ...answer,
    length: answer.body.byteLength,
    entityTag: await shortDigest(answer.body),
    isHit: false,
  };
}

/** The bytes of a body. */
export async function readBytes(body: AnswerBody): Promise<Uint8Array<ArrayBuffer>> {
  return body instanceof Uint8Array ? body : new Uint8Array(await new Response(body).arrayBuffer());
}

/**
 * Returns the same answer in another form, which is created when its body is needed.
 *
 * @param form name of the form, unique per address: it distinguishes the entity tags without reading the body
 * @param headers the headers of the other form
 */
export function withConversion(
  answer: ServableAnswer,
  form: string,
  headers: ServableAnswer["headers"],
  convertBody: NonNullable<ServableAnswer["convertBody"]>,
): ServableAnswer {
  return { ...answer, headers, entityTag: `${answer.entityTag}-${form}`, convertBody };
}

/** An answer with its body in the requested form. */
export async function convertIfNeeded({ convertBody, ...answer }: ServableAnswer): Promise<ServableAnswer> {
  if (convertBody === undefined) return answer;
  const body = convertBody(await readBytes(answer.body));
  return { ...answer, body, length: body.byteLength };
}

/** The result of a job's task as an answer. */
export async function createJobAnswer(
  result: Omit<NewAnswer, "lifetime">,
  lifetime: number,
): Promise<ServableAnswer> {
  return { ...(await withEntityTag({ ...result, lifetime })), isHit: true };
}

/** Cancels a body that is not needed. Never rejects. */
export async function cancelBody(answer: { readonly body: AnswerBody } | null): Promise<void> {
  if (answer === null || answer.body instanceof Uint8Array) return;
  await answer.body.cancel().catch(() => undefined);
}

/** The first 128 bits of a SHA-256 digest, in hexadecimal. */
export async function shortDigest(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return (await sha256Hex(content)).slice(0, 32);
}
