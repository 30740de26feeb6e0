import type { Account, Accounts } from "./accounts.ts";
import { composeAnswer } from "./answer.ts";
import { type Call, parseJson } from "./call.ts";
import { Directives } from "./directives.ts";
import type { FileStore } from "./files.ts";
import { parsePrompt } from "./prompt.ts";
import { errorReply, type Reply, streamReply } from "./replies.ts";
import { formatSerial, type SerialNumbers } from "./serials.ts";
import type { SandboxStores, StoredMessage, StoredSession } from "./shelves.ts";
import { buildEvents, countTokens, injectFaults, readFormat } from "./steps.ts";
import { readTurn, type Turn } from "./turn.ts";

const KEPT_TURNS = 100;
const KEPT_PROMPT = 200_000;
const LONGEST_PROMPT = 32 * 1024 * 1024;

/** Generations: turns, their continuations, and faults before a stream begins. */
export class Turns {
  readonly #shelves: SandboxStores;
  readonly #serials: SerialNumbers;
  readonly #accounts: Accounts;
  readonly #files: FileStore;
  readonly #now: () => number;

  /** `now` returns milliseconds since the epoch. */
  constructor(
    shelves: SandboxStores,
    serials: SerialNumbers,
    accounts: Accounts,
    files: FileStore,
    now: () => number,
  ) {
    this.#shelves = shelves;
    this.#serials = serials;
    this.#accounts = accounts;
    this.#files = files;
    this.#now = now;
  }

  /** Answers POST /api/sessions/{id}/turns. */
  begin(account: Account, session: StoredSession, call: Call): Reply {
    if ((call.body?.length ?? 0) > LONGEST_PROMPT) return errorReply("too_large", "The prompt is too long.");
    const turn = readTurn(parseJson(call.body));
    if (typeof turn === "string") return errorReply("invalid_request", turn);
    const parent = session.messages.find(({ id }) => id === turn.parent_message_id);
    if (turn.parent_message_id !== null && parent === undefined) {
      return errorReply("invalid_request", "parent_message_id is no message of this session.");
    }
    const files = turn.file_ids.map((id) => this.#files.find(account.id, id));
    if (files.some((file) => file === undefined)) return errorReply("not_found", "There is no such file.");
    if (files.some((file) => file?.object.status !== "processed")) {
      return errorReply("invalid_request", "A file is not processed yet.");
    }

    const messageId = this.#serials.next("message");
    this.#record(account, session, messageId, turn);
    const excerpts = files.map((file) => file?.excerpt ?? "");
    const reading = parsePrompt(this.#promptWithFiles(turn, excerpts));
    const user = parent?.empty ? parent.user : reading.user;
    const directives = new Directives(user);
    if (/^(?:token-)?limited/.test(account.id))
      return errorReply("rate_limited", "This account is always rate limited.");
    const fault = this.#faultBeforeStream(account, user, directives);
    if (fault !== null) return fault;

    const before = [reading.before, ...excerpts].join("\n");
    const attachments = files.flatMap((file) => (file === undefined ? [] : [file.object]));
    const composed = composeAnswer(turn, { ...reading, user, before }, directives, attachments);
    const isEmpty = reading.toolResults.length === 0 && this.#isEmptyNow(account, user, directives, parent);
    const answer = isEmpty ? { ...composed, text: "", search: [] } : composed;
    const afterTools = reading.toolResults.length > 0;
    const format = readFormat(directives);
    const [text = "", ...rest] = afterTools ? [answer.text] : splitIncomplete(answer.text, directives);
    const promptTokens = countTokens(turn.prompt);
    const message: StoredMessage = {
      id: messageId,
      user,
      empty: answer.text === "" && !afterTools,
      rest,
      promptTokens,
    };
    this.#shelves.sessions.put(session.id, { ...session, messages: [...session.messages, message] });

    const finish = rest.length > 0 ? "incomplete" : answer.finish;
    const { stopSequence } = answer;
    const events = buildEvents(
      messageId,
      { ...answer, text },
      finish,
      promptTokens,
      directives,
      stopSequence,
    );
    const late = directives.numberArgument("late", 1000) ?? 0;
    return streamReply(
      this.#openStream(),
      afterTools ? events : injectFaults(events, directives),
      format,
      late,
    );
  }

  /** Answers POST /api/sessions/{id}/turns/{message_id}/continue. */
  continue(session: StoredSession, messageId: string): Reply {
    const message = session.messages.find(({ id }) => id === messageId);
    if (message === undefined) return errorReply("not_found", "There is no such message.");
    const [text, ...rest] = message.rest;
    if (text === undefined) return errorReply("invalid_request", "This message is complete.");
    const messages = session.messages.map((other) => (other.id === messageId ? { ...message, rest } : other));
    this.#shelves.sessions.put(session.id, { ...session, messages });
    const directives = new Directives(message.user);
    const answer = { reasoning: "", text, search: [] };
    const finish = rest.length > 0 ? "incomplete" : "stop";
    const events = buildEvents(messageId, answer, finish, message.promptTokens, directives);
    return streamReply(this.#openStream(), events, readFormat(directives), 0);
  }

  /** The conversation may have been uploaded as a file. The prompt itself then has no user section. */
  #promptWithFiles(turn: Turn, excerpts: readonly string[]): string {
    if (parsePrompt(turn.prompt).hasUserHeading) return turn.prompt;
    return excerpts.find((excerpt) => parsePrompt(excerpt).hasUserHeading) ?? turn.prompt;
  }

  #faultBeforeStream(account: Account, user: string, directives: Directives): Reply | null {
    const expired = directives.lastArgument("expired");
    if (expired !== undefined && (expired === "always" || this.#isFirstOfPair(`expired:${hash(user)}`))) {
      this.#accounts.revoke(account.id);
      return errorReply("token_expired", "The token has expired.");
    }
    const [status, code = "model_unavailable", extent] = directives.lastArguments("status") ?? [];
    if (status === undefined) return null;
    const key = `status:${hash(user)}`;
    const applies =
      extent === "once"
        ? this.#isFirstOfPair(key)
        : extent === "account"
          ? this.#isFirstAccount(key, account)
          : true;
    if (!applies) return null;
    return errorReply(code, `The sandbox was asked for the status ${status}.`, Number(status) || 500);
  }

  #isEmptyNow(
    account: Account,
    user: string,
    directives: Directives,
    parent: StoredMessage | undefined,
  ): boolean {
    const extent = directives.lastArgument("empty");
    if (extent === undefined) return false;
    if (extent === "always") return true;
    if (extent === "account") return this.#isFirstAccount(`empty:${hash(user)}`, account);
    return parent?.empty !== true;
  }

  /**
   * Alternates: true for the first call with a key, false for the second, and so on. So each fault is served once, and the
   * retry succeeds.
   */
  #isFirstOfPair(key: string): boolean {
    const served = this.#shelves.marks.get(key) !== undefined;
    if (served) this.#shelves.marks.delete(key);
    else this.#shelves.marks.put(key, "served");
    return !served;
  }

  /** True for the first account until another account comes; then starts over. */
  #isFirstAccount(key: string, account: Account): boolean {
    const first = this.#shelves.marks.get(key) ?? account.id;
    if (first === account.id) this.#shelves.marks.put(key, first);
    else this.#shelves.marks.delete(key);
    return first === account.id;
  }

  #record(account: Account, session: StoredSession, messageId: string, turn: Turn): void {
    const { turns } = this.#shelves;
    turns.put(messageId, {
      account: account.id,
      session: session.id,
      message_id: messageId,
      at: this.#now(),
      turn: JSON.stringify({ ...turn, prompt: turn.prompt.slice(0, KEPT_PROMPT) }),
    });
    const expired = this.#serials.count("message") - KEPT_TURNS;
    if (expired > 0) turns.delete(formatSerial("message", expired));
  }

  #openStream(): string {
    const id = this.#serials.next("stream");
    this.#shelves.streams.put(id, this.#now());
    return id;
  }
}

/** `[[incomplete:N]]` splits the text into N + 1 equal pieces. */
function splitIncomplete(text: string, directives: Directives): string[] {
  const cuts = directives.numberArgument("incomplete", 1) ?? 0;
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / (cuts + 1)));
  return Array.from({ length: cuts + 1 }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** FNV-1a: short keys for long prompts. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(16);
}
