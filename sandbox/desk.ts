import { type Account, Accounts, type Refusal } from "./accounts.ts";
import { composeAnswer } from "./answer.ts";
import { Directives } from "./directives.ts";
import { FileDrawer } from "./files.ts";
import { readPrompt } from "./prompt.ts";
import { created, noContent, ok, type Reply, refuse, stream } from "./replies.ts";
import type { Shelves, StoredMessage, StoredSession } from "./shelves.ts";
import { countTokens, eventsOf, formatOf, withFaults } from "./steps.ts";
import { readTurn, type Turn } from "./turn.ts";

/** A request to the provider as plain data, so that it can cross a process border. */
export interface Call {
  readonly method: string;
  /** The path split at slashes and decoded, without empty parts: `["api", "sessions"]`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly token: string | null;
  /** The JSON text of the body; null when there is none. */
  readonly body: string | null;
  readonly upload: Upload | null;
}

/** A multipart upload; `excerpt` is the start of the file's text, empty when it is not text. */
export interface Upload {
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  readonly excerpt: string;
}

/** Settings of a desk. */
export interface DeskOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a token from sign-in is good, in seconds. */
  readonly tokenLifetimeSeconds: number;
}

const KEPT_TURNS = 100;
const KEPT_PROMPT = 200_000;
const LONGEST_PROMPT = 32 * 1024 * 1024;
const STALE_STREAM_MS = 600_000;

/**
 * The provider's whole behaviour as one synchronous function from call to reply: no network, no timers. Whatever
 * holds the shelves decides how long the state lives.
 */
export class SandboxDesk {
  readonly #shelves: Shelves;
  readonly #options: DeskOptions;
  readonly #accounts: Accounts;
  readonly #files: FileDrawer;

  constructor(shelves: Shelves, options: DeskOptions) {
    this.#shelves = shelves;
    this.#options = options;
    this.#accounts = new Accounts(shelves.counters, options.tokenLifetimeSeconds);
    this.#files = new FileDrawer(shelves.files, (kind) => this.#serial(kind));
  }

  /** Answers one request. Never throws for a wrong request: that is a reply too. */
  handle(call: Call): Reply {
    const [root, resource, id, part, message, verb] = call.path;
    if (root === "sandbox") return this.#inspect(call);
    if (root !== "api") return refuse("not_found", "There is nothing at this path.");
    if (call.path.length === 2 && resource === "login") return only(call, { POST: () => this.#signIn(call) });

    const account = this.#accounts.authenticate(call.token, this.#seconds());
    if ("refused" in account) return refuseAccount(account);
    const length = call.path.length;
    if (resource === "account" && length === 2) return only(call, { GET: () => this.#account(account) });
    if (resource === "files") {
      if (length === 2)
        return only(call, { POST: () => this.#files.add(account.id, call.upload, this.#seconds()) });
      if (length === 3 && id) return only(call, { GET: () => this.#files.read(account.id, id) });
    }
    if (resource !== "sessions") return refuse("not_found", "There is nothing at this path.");
    if (length === 2) {
      return only(call, {
        POST: () => this.#createSession(account),
        GET: () => this.#listSessions(account, call.query),
        DELETE: () => this.#deleteSessions(account),
      });
    }
    const session = id === undefined ? undefined : this.#shelves.sessions.get(id);
    if (session?.account !== account.id) return refuse("not_found", "There is no such session.");
    if (length === 3) return only(call, { DELETE: () => this.#deleteSession(session) });
    if (length === 4 && part === "turns")
      return only(call, { POST: () => this.#turn(account, session, call) });
    if (length === 6 && part === "turns" && verb === "continue" && message !== undefined) {
      return only(call, { POST: () => this.#continue(session, message) });
    }
    return refuse("not_found", "There is nothing at this path.");
  }

  /** To be called when the stream with this id is over. */
  closed(streamId: string): void {
    this.#shelves.streams.delete(streamId);
  }

  #signIn(call: Call): Reply {
    const body = readObject(call.body);
    const email = body?.get("email");
    const mobile = body?.get("mobile");
    const password = body?.get("password");
    const login = email ?? mobile;
    if (
      typeof login !== "string" ||
      typeof password !== "string" ||
      (email !== undefined && mobile !== undefined)
    ) {
      return refuse("invalid_request", "Sign-in takes either email or mobile, and a password, all strings.");
    }
    const result = this.#accounts.signIn(login, password, this.#seconds());
    return "refused" in result ? refuseAccount(result) : ok(result);
  }

  #account(account: Account): Reply {
    return ok({ ...account, session_count: this.#sessionsOf(account).length });
  }

  #createSession(account: Account): Reply {
    const session: StoredSession = {
      id: `session-${this.#serial("session")}`,
      account: account.id,
      created_at: this.#seconds(),
      messages: [],
    };
    this.#shelves.sessions.put(session.id, session);
    return created({ id: session.id });
  }

  #listSessions(account: Account, query: Readonly<Record<string, string>>): Reply {
    const limit = query.limit === undefined ? 20 : Number(query.limit);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      return refuse("invalid_request", "limit is 1 to 100.");
    const sessions = this.#sessionsOf(account);
    const from =
      query.cursor === undefined ? 0 : sessions.findIndex((session) => session.id > (query.cursor ?? ""));
    const page = from === -1 ? [] : sessions.slice(from, from + limit);
    const more = from !== -1 && from + limit < sessions.length;
    return ok({
      data: page.map(({ id, created_at }) => ({ id, created_at })),
      total: sessions.length,
      next_cursor: more ? (page.at(-1)?.id ?? null) : null,
    });
  }

  #deleteSession(session: StoredSession): Reply {
    this.#shelves.sessions.delete(session.id);
    return noContent();
  }

  #deleteSessions(account: Account): Reply {
    const sessions = this.#sessionsOf(account);
    for (const { id } of sessions) this.#shelves.sessions.delete(id);
    return ok({ deleted: sessions.length });
  }

  #turn(account: Account, session: StoredSession, call: Call): Reply {
    if ((call.body?.length ?? 0) > LONGEST_PROMPT) return refuse("too_large", "The prompt is too long.");
    const turn = readTurn(parseJson(call.body));
    if (typeof turn === "string") return refuse("invalid_request", turn);
    const parent = session.messages.find(({ id }) => id === turn.parent_message_id);
    if (turn.parent_message_id !== null && parent === undefined) {
      return refuse("invalid_request", "parent_message_id is no message of this session.");
    }
    const files = turn.file_ids.map((id) => this.#files.find(account.id, id));
    if (files.some((file) => file === undefined)) return refuse("not_found", "There is no such file.");
    if (files.some((file) => file?.object.status !== "processed")) {
      return refuse("invalid_request", "A file is not processed yet.");
    }

    const messageId = messageName(Number(this.#serial("message")));
    this.#record(account, session, messageId, turn);
    const reading = readPrompt(
      this.#promptWithFiles(
        turn,
        files.map((file) => file?.excerpt ?? ""),
      ),
    );
    const user = parent?.empty ? parent.user : reading.user;
    const directives = new Directives(user);
    if (account.id.startsWith("limited"))
      return refuse("rate_limited", "This account is always rate limited.");
    const fault = this.#faultBeforeStream(account, user, directives);
    if (fault !== null) return fault;

    const attachments = files.flatMap((file) => (file === undefined ? [] : [file.object]));
    const composed = composeAnswer(turn, { ...reading, user }, directives, attachments);
    const isEmpty = reading.toolResults.length === 0 && this.#isEmptyNow(account, user, directives, parent);
    const answer = isEmpty ? { ...composed, text: "", search: [] } : composed;
    const afterTools = reading.toolResults.length > 0;
    const format = formatOf(directives);
    const [text = "", ...rest] = afterTools ? [answer.text] : split(answer.text, directives);
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
    const events = eventsOf(messageId, { ...answer, text }, finish, promptTokens, directives);
    const late = directives.count("late", 1000) ?? 0;
    return stream(this.#openStream(), afterTools ? events : withFaults(events, directives), format, late);
  }

  #continue(session: StoredSession, messageId: string): Reply {
    const message = session.messages.find(({ id }) => id === messageId);
    if (message === undefined) return refuse("not_found", "There is no such message.");
    const [text, ...rest] = message.rest;
    if (text === undefined) return refuse("invalid_request", "This message is complete.");
    const messages = session.messages.map((other) => (other.id === messageId ? { ...message, rest } : other));
    this.#shelves.sessions.put(session.id, { ...session, messages });
    const directives = new Directives(message.user);
    const answer = { reasoning: "", text, search: [] };
    const finish = rest.length > 0 ? "incomplete" : "stop";
    const events = eventsOf(messageId, answer, finish, message.promptTokens, directives);
    return stream(this.#openStream(), events, formatOf(directives), 0);
  }

  /** The text of a conversation may have been uploaded as a file; then the prompt itself has no user section. */
  #promptWithFiles(turn: Turn, excerpts: readonly string[]): string {
    if (readPrompt(turn.prompt).marked) return turn.prompt;
    return excerpts.find((excerpt) => readPrompt(excerpt).marked) ?? turn.prompt;
  }

  #faultBeforeStream(account: Account, user: string, directives: Directives): Reply | null {
    const expired = directives.arg("expired");
    if (expired !== undefined && (expired === "always" || this.#firstTime(`expired:${hash(user)}`))) {
      this.#accounts.revoke(account.id);
      return refuse("token_expired", "The token has expired.");
    }
    const [status, code = "model_unavailable", extent] = directives.args("status") ?? [];
    if (status === undefined) return null;
    const key = `status:${hash(user)}`;
    const applies =
      extent === "once"
        ? this.#firstTime(key)
        : extent === "account"
          ? this.#onFirstAccount(key, account)
          : true;
    if (!applies) return null;
    return refuse(code, `The sandbox was asked for the status ${status}.`, Number(status) || 500);
  }

  #isEmptyNow(
    account: Account,
    user: string,
    directives: Directives,
    parent: StoredMessage | undefined,
  ): boolean {
    const extent = directives.arg("empty");
    if (extent === undefined) return false;
    if (extent === "always") return true;
    if (extent === "account") return this.#onFirstAccount(`empty:${hash(user)}`, account);
    return parent?.empty !== true;
  }

  /** True every second time: the fault is served, its repetition is spared, and then it starts again. */
  #firstTime(key: string): boolean {
    const served = this.#shelves.marks.get(key) !== undefined;
    if (served) this.#shelves.marks.delete(key);
    else this.#shelves.marks.put(key, "served");
    return !served;
  }

  /** True on the account that came first, until another account has come; then it starts again. */
  #onFirstAccount(key: string, account: Account): boolean {
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
      at: this.#options.now(),
      turn: JSON.stringify({ ...turn, prompt: turn.prompt.slice(0, KEPT_PROMPT) }),
    });
    const expired = (this.#shelves.counters.get("serial:message") ?? 0) - KEPT_TURNS;
    if (expired > 0) turns.delete(messageName(expired));
  }

  #inspect(call: Call): Reply {
    const action = call.path.length === 2 ? call.path[1] : undefined;
    if (action === "state") return only(call, { GET: () => this.#state() });
    if (action === "reset") return only(call, { POST: () => this.#reset() });
    if (action === "expire") {
      return only(call, {
        POST: () => {
          for (const name of Object.keys(this.#accounts.signIns())) this.#accounts.revoke(name);
          return noContent();
        },
      });
    }
    return refuse("not_found", "There is nothing at this path.");
  }

  #state(): Reply {
    const sessions: Record<string, number> = {};
    for (const [, { account }] of this.#shelves.sessions.entries())
      sessions[account] = (sessions[account] ?? 0) + 1;
    const open = [...this.#shelves.streams.entries()];
    const fresh = open.filter(([, since]) => this.#options.now() - since < STALE_STREAM_MS);
    const turns = [...this.#shelves.turns.entries()].map(([, { turn, ...record }]) => ({
      ...record,
      ...readObjectAsRecord(turn),
    }));
    return ok({
      sessions,
      sign_ins: this.#accounts.signIns(),
      open_streams: fresh.length,
      turn_count: this.#shelves.counters.get("serial:message") ?? 0,
      turns,
    });
  }

  #reset(): Reply {
    const { sessions, files, turns, counters, marks, streams } = this.#shelves;
    for (const shelf of [sessions, files, turns, counters, marks, streams]) {
      for (const [key] of [...shelf.entries()]) shelf.delete(key);
    }
    return noContent();
  }

  #openStream(): string {
    const id = `stream-${this.#serial("stream")}`;
    this.#shelves.streams.put(id, this.#options.now());
    return id;
  }

  #sessionsOf(account: Account): StoredSession[] {
    return [...this.#shelves.sessions.entries()]
      .map(([, session]) => session)
      .filter((s) => s.account === account.id);
  }

  #serial(kind: string): string {
    const serial = (this.#shelves.counters.get(`serial:${kind}`) ?? 0) + 1;
    this.#shelves.counters.put(`serial:${kind}`, serial);
    return padded(serial);
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

/** Serial numbers are padded, so that the order of the keys is the order in time. */
const padded = (serial: number): string => String(serial).padStart(8, "0");

const messageName = (serial: number): string => `message-${padded(serial)}`;

/** `[[incomplete:N]]` cuts the text into N + 1 pieces at even places. */
function split(text: string, directives: Directives): string[] {
  const cuts = directives.count("incomplete", 1) ?? 0;
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / (cuts + 1)));
  return Array.from({ length: cuts + 1 }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

function only(call: Call, methods: Readonly<Record<string, () => Reply>>): Reply {
  const method = methods[call.method];
  return method === undefined ? refuse("invalid_request", "Wrong method.", 405) : method();
}

const refuseAccount = ({ refused }: Refusal): Reply => {
  if (refused === "invalid_credentials") return refuse(refused, "The login or the password is wrong.");
  if (refused === "account_suspended") return refuse(refused, "The account is suspended.");
  return refuse(refused, "The token has expired or was never given.");
};

function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readObjectAsRecord(text: string | null): Record<string, unknown> {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const readObject = (text: string | null): Map<string, unknown> =>
  new Map(Object.entries(readObjectAsRecord(text)));

/** FNV-1a: short keys for long prompts. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(16);
}
