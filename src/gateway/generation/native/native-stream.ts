import { ByteCollector } from "../../../core/encoding/byte-collector.ts";
import { concatBytes } from "../../../core/encoding/bytes.ts";
import { parseObject } from "../../../core/encoding/json.ts";
import { editMember, getMemberText, replaceMember } from "../../../core/encoding/json-splice.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { MAX_EVENT_CHARS } from "../../providers/answers/event-stream.ts";
import { isRoleAlone, isUsageAlone, mayBeUsageAlone } from "./chat-chunks.ts";
import { CR, endOfEvents, endsWithBlankLine, findEventEnd, LF } from "./event-boundaries.ts";

const DATA_LINE = /(?:^|[\r\n])data:[ \t]?([^\r\n]*)/;

/** A blank line with the line break before it has at most four bytes. */
const TAIL_BYTES = 3;
/** The most bytes that are held before the first content, for example comments. */
const MAX_OPENING_BYTES = 256 * 1024;
/** The longest event, in bytes: as long as a decoder accepts. */
const MAX_EVENT_BYTES = 4 * MAX_EVENT_CHARS;

/** What a {@link NativeStream} changes. */
interface NativeStreamOptions {
  readonly modelPaths: readonly (readonly string[])[];
  /** The name of the model that the caller reads. */
  readonly model: string;
  /** Removes the event that states only the usage. */
  readonly hidesUsageEvent: boolean;
  /** The stream of another provider that this one continues. The caller reads both as one answer. */
  readonly continued: NativeStream | null;
  /** Only the first event that states a model states one. */
  readonly namesModelOnce?: boolean;
  /** Charges bytes that are held to the memory budget. */
  readonly charge?: (bytes: number) => void;
}

/** Held bytes are charged in steps of this size, and stay charged. */
const CHARGE_STEP = 4 * 1024;

/** Members that are equal in all chunks of one answer, apart from the model. */
const IDENTITY_MEMBERS = ["id", "created"];

const LINE_BREAK = /\r\n|\n|\r/;
const SEVERAL_DATA_LINES = /(?:^|[\r\n])data:[\s\S]*?[\r\n]data:/;

/** Whether an event has several lines of data. Runs for every event, and a search for a text is faster than the pattern. */
function hasSeveralDataLines(event: string): boolean {
  if (event.includes("\r")) return SEVERAL_DATA_LINES.test(event);
  const first = event.startsWith("data:") ? 0 : event.indexOf("\ndata:");
  return first >= 0 && event.includes("\ndata:", first + 1);
}

/** Puts the data of an event on one line: in JSON, a line break is the same as a space. */
function joinDataLines(event: string): string {
  const lines = event.split(LINE_BREAK);
  const isData = (line: string) => line.startsWith("data:");
  const data = lines.filter(isData).map((line) => line.slice("data:".length));
  return [...lines.filter((line) => !isData(line)), `data:${data.join(" ")}`].join("\n");
}

const NONE = new Uint8Array();
const DECODER = new TextDecoder();
const ENCODER = new TextEncoder();

/**
 * The bytes of a provider's event stream on their way to the caller. They leave in whole events, so that an error event
 * can follow at any time. Nothing leaves before the answer has content: until then another account may still answer.
 */
export class NativeStream {
  readonly #modelPaths: readonly (readonly string[])[];
  /** The name of the model that the caller reads, as JSON. */
  readonly model: string;
  readonly #hidesUsageEvent: boolean;
  /** Bytes that have not left: an unfinished event, and all bytes before the first content. */
  readonly #held = new ByteCollector();
  #hasContent = false;
  /** The last held bytes, as many as may belong to a blank line. */
  #tail: Uint8Array = NONE;
  /** The provider states another name of the model than the caller reads. Null: no event has stated one yet. */
  #isRenamed: boolean | null = null;
  /** The values of {@link IDENTITY_MEMBERS} in the first event that left. */
  identity: ReadonlyMap<string, string> | null = null;
  readonly #continued: NativeStream | null;
  readonly #namesModelOnce: boolean;
  readonly #charge: ((bytes: number) => void) | undefined;
  #chargedLength = 0;
  /** How the last event with another model began, up to the model's name, and what the caller got instead. */
  #lastBeginning: { readonly stated: string; readonly renamed: string } | null = null;

  constructor(options: NativeStreamOptions) {
    const { modelPaths, model, hidesUsageEvent, continued, namesModelOnce = false, charge } = options;
    this.#modelPaths = modelPaths;
    this.model = continued?.model ?? JSON.stringify(model);
    this.#hidesUsageEvent = hidesUsageEvent;
    this.#continued = continued;
    this.#namesModelOnce = namesModelOnce;
    this.#charge = charge;
  }

  /** Whether no event is left to change, and all bytes so far have left. */
  get needsNoEdit(): boolean {
    return this.#hasContent && this.#held.length === 0 && this.#isUnchanged;
  }

  /** Whether the last bytes are an event without an end. */
  get hasUnfinishedEvent(): boolean {
    return this.#held.length > 0;
  }

  get #isUnchanged(): boolean {
    return this.#isRenamed === false && !this.#hidesUsageEvent && this.#continued === null;
  }

  /**
   * Notes bytes that the caller has got already, and keeps the beginning of an unfinished event.
   * The buffer may be reused afterwards.
   */
  observe(bytes: Uint8Array): void {
    if (this.#held.length === 0 && endsWithBlankLine(bytes)) return;
    const searched = concatBytes([this.#tail, bytes]);
    const end = endOfEvents(searched);
    if (end > 0) this.#takeHeld();
    this.hold(end > 0 ? searched.slice(end) : bytes.slice());
    this.#tail = searched.slice(Math.max(end, searched.length - TAIL_BYTES));
  }

  /**
   * Takes bytes of the provider, and returns those that can leave. `hasContent`: the answer has begun.
   *
   * @throws ProviderError `malformed` for an event that is too long
   */
  push(bytes: Uint8Array, hasContent: boolean): Uint8Array {
    // Most reads are whole events.
    if (this.#hasContent && this.#held.length === 0 && endsWithBlankLine(bytes)) return this.#edit(bytes);
    // The end of an event is in the new bytes, or it began in the last bytes before them.
    let searched = concatBytes([this.#tail, bytes]);
    this.hold(bytes);
    if (!this.#hasContent) {
      this.#hasContent = hasContent || this.#held.length > MAX_OPENING_BYTES;
      if (!this.#hasContent) return NONE;
      searched = this.#held.join();
    }
    const end = endOfEvents(searched);
    this.#tail = searched.slice(Math.max(end, searched.length - TAIL_BYTES));
    if (end === 0) return NONE;
    const all = this.#takeHeld();
    const leavingLength = all.length - (searched.length - end);
    if (leavingLength < all.length) this.hold(all.subarray(leavingLength));
    return this.#edit(all.subarray(0, leavingLength));
  }

  /** Holds bytes until {@link finish}, for example the last ones of the stream. */
  hold(bytes: Uint8Array): void {
    this.#held.push(bytes);
    if (this.#held.length > MAX_EVENT_BYTES) {
      throw new ProviderError("malformed", "the provider sent an event that is too long");
    }
    if (this.#held.length <= this.#chargedLength) return;
    const length = Math.ceil(this.#held.length / CHARGE_STEP) * CHARGE_STEP;
    this.#charge?.(length - this.#chargedLength);
    this.#chargedLength = length;
  }

  /** Returns the rest of a complete stream. Its last event may lack the blank line. */
  finish(): Uint8Array {
    const rest = this.#takeHeld();
    if (rest.length === 0) return NONE;
    const rests = [
      rest,
      concatBytes([rest, new Uint8Array([LF])]),
      concatBytes([rest, new Uint8Array([LF, LF])]),
    ];
    return this.#edit(rests.find((bytes) => endOfEvents(bytes) === bytes.length) ?? rest);
  }

  /** The answer has ended: drops the beginning of a further event in the same read. */
  dropFragment(): void {
    const rest = this.#takeHeld();
    const end = endOfEvents(rest);
    const last = rest[rest.length - 1];
    const endsInLine = last !== LF && last !== CR;
    this.hold(end > 0 && endsInLine ? rest.subarray(0, end) : rest);
  }

  /** An error object that some providers append without the syntax of an event. Null: the stream has none. */
  takeAppendedError(): Uint8Array | null {
    const rest = this.#held.join();
    if (parseObject(DECODER.decode(rest).trim())["error"] === undefined) return null;
    return this.#takeHeld();
  }

  #takeHeld(): Uint8Array {
    return concatBytes(this.#held.take());
  }

  #edit(bytes: Uint8Array): Uint8Array {
    if (this.#isUnchanged) return bytes;
    const text = DECODER.decode(bytes);
    const hasCarriageReturns = text.includes("\r");
    let edited = "";
    for (let start = 0; start < text.length; ) {
      const end = findEventEnd(text, start, hasCarriageReturns);
      const event = this.#editEvent(text.slice(start, end.at));
      if (event !== null) edited += event + text.slice(end.at, end.after);
      start = end.after;
    }
    return edited === text ? bytes : ENCODER.encode(edited);
  }

  /** Returns null for an event that the caller does not get. */
  #editEvent(event: string): string | null {
    if (!hasSeveralDataLines(event)) return this.#editSingleLineEvent(event);
    const joined = joinDataLines(event);
    const edited = this.#editSingleLineEvent(joined);
    return edited === joined ? event : edited;
  }

  #editSingleLineEvent(event: string): string | null {
    if (this.#hidesUsageEvent && mayBeUsageAlone(event)) return this.#editParsedEvent(event);
    if (this.#continued !== null || this.#lastBeginning === null) return this.#editParsedEvent(event);
    // Most events of an answer begin alike, up to the model's name.
    const { stated, renamed } = this.#lastBeginning;
    return event.startsWith(stated) ? renamed + event.slice(stated.length) : this.#editParsedEvent(event);
  }

  #editParsedEvent(event: string): string | null {
    const match = DATA_LINE.exec(event);
    const json = match?.[1] ?? "";
    if (match === null || !json.startsWith("{")) return event;
    try {
      if (this.#hidesUsageEvent && isUsageAlone(json)) return null;
      if (this.#continued !== null && isRoleAlone(json)) return null;
      this.identity ??= new Map(
        IDENTITY_MEMBERS.flatMap((name) => {
          const value = getMemberText(json, [name]);
          return value === null ? [] : [[name, value]];
        }),
      );
      const renamed = this.#continue(this.#isRenamed === false ? json : this.#rename(json));
      if (renamed === json) return event;
      const start = match.index + match[0].length - json.length;
      const edited = event.slice(0, start) + renamed + event.slice(start + json.length);
      this.#learnBeginning(event, edited);
      return edited;
    } catch {
      // The decoder reports an event that is not valid JSON.
      return event;
    }
  }

  /** Learns from an event in which only the model's name was changed. */
  #learnBeginning(event: string, edited: string): void {
    const at = edited.indexOf(this.model);
    const end = event.indexOf('"', at + 1) + 1;
    const isOnlyChange = edited.slice(at + this.model.length) === event.slice(end);
    if (at <= 0 || !isOnlyChange || event.slice(0, at) !== edited.slice(0, at)) return;
    this.#lastBeginning = { stated: event.slice(0, end), renamed: edited.slice(0, at + this.model.length) };
  }

  #continue(json: string): string {
    let continued = json;
    for (const [name, value] of this.#continued?.identity ?? [])
      continued = replaceMember(continued, [name], value);
    return continued;
  }

  #rename(json: string): string {
    for (const path of this.#modelPaths) {
      const name = path.at(-1) ?? "";
      if (!json.includes(`"${name}"`)) continue;
      let isStated = false;
      const renamed = editMember(json, path, (stated) => {
        if (stated === '""') return stated;
        isStated = true;
        this.#isRenamed ??= stated !== this.model;
        return this.model;
      });
      if (!isStated) continue;
      if (this.#namesModelOnce) this.#isRenamed = false;
      return renamed;
    }
    return json;
  }
}
