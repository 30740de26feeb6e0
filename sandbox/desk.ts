import { isObject } from "../src/core/encoding/json.ts";
import { type Account, Accounts, type AuthFailure } from "./accounts.ts";
import { type Call, parseJson } from "./call.ts";
import { FileStore } from "./files.ts";
import { createdReply, errorReply, noContentReply, okReply, type Reply } from "./replies.ts";
import { SerialNumbers } from "./serials.ts";
import type { SandboxStores, StoredSession } from "./shelves.ts";
import { Turns } from "./turns.ts";

/** Options of the sandbox backend. */
export interface BackendOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lifetime in seconds of a token from sign-in. */
  readonly tokenLifetimeSeconds: number;
}

const STALE_STREAM_MS = 600_000;

/**
 * The provider's behavior as one synchronous function from call to reply, without network and timers. The owner of the
 * stores decides how long the state lives.
 */
export class SandboxBackend {
  readonly #shelves: SandboxStores;
  readonly #options: BackendOptions;
  readonly #serials: SerialNumbers;
  readonly #accounts: Accounts;
  readonly #files: FileStore;
  readonly #turns: Turns;

  constructor(shelves: SandboxStores, options: BackendOptions) {
    this.#shelves = shelves;
    this.#options = options;
    this.#accounts = new Accounts(shelves.counters, options.tokenLifetimeSeconds);
    this.#serials = new SerialNumbers(shelves.counters);
    this.#files = new FileStore(shelves.files, this.#serials);
    this.#turns = new Turns(shelves, this.#serials, this.#accounts, this.#files, options.now);
  }

  /** Answers one request. Invalid requests get an error reply; the function never throws for them. */
  handle(call: Call): Reply {
    const [root, resource, id, part, message, verb] = call.path;
    if (root === "sandbox") return this.#inspect(call);
    if (root !== "api") return errorReply("not_found", "There is nothing at this path.");
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
    if (resource !== "sessions") return errorReply("not_found", "There is nothing at this path.");
    if (length === 2) {
      return only(call, {
        POST: () => this.#createSession(account),
        GET: () => this.#listSessions(account, call.query),
        DELETE: () => this.#deleteSessions(account),
      });
    }
    const session = id === undefined ? undefined : this.#shelves.sessions.get(id);
    if (session?.account !== account.id) return errorReply("not_found", "There is no such session.");
    if (length === 3) return only(call, { DELETE: () => this.#deleteSession(session) });
    if (length === 4 && part === "turns")
      return only(call, { POST: () => this.#turns.begin(account, session, call) });
    if (length === 6 && part === "turns" && verb === "continue" && message !== undefined) {
      return only(call, { POST: () => this.#turns.continue(session, message) });
    }
    return errorReply("not_found", "There is nothing at this path.");
  }

  /** Call this when the stream with this id ends. */
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
      return errorReply(
        "invalid_request",
        "Sign-in takes either email or mobile, and a password, all strings.",
      );
    }
    const result = this.#accounts.signIn(login, password, this.#seconds());
    return "refused" in result ? refuseAccount(result) : okReply(result);
  }

  #account(account: Account): Reply {
    return okReply({ ...account, session_count: this.#sessionsOf(account).length });
  }

  #createSession(account: Account): Reply {
    const session: StoredSession = {
      id: this.#serials.next("session"),
      account: account.id,
      created_at: this.#seconds(),
      messages: [],
    };
    this.#shelves.sessions.put(session.id, session);
    return createdReply({ id: session.id });
  }

  #listSessions(account: Account, query: Readonly<Record<string, string>>): Reply {
    const limit = query["limit"] === undefined ? 20 : Number(query["limit"]);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      return errorReply("invalid_request", "limit is 1 to 100.");
    const sessions = this.#sessionsOf(account);
    const from =
      query["cursor"] === undefined
        ? 0
        : sessions.findIndex((session) => session.id > (query["cursor"] ?? ""));
    const page = from === -1 ? [] : sessions.slice(from, from + limit);
    const more = from !== -1 && from + limit < sessions.length;
    return okReply({
      data: page.map(({ id, created_at }) => ({ id, created_at })),
      total: sessions.length,
      next_cursor: more ? (page.at(-1)?.id ?? null) : null,
    });
  }

  #deleteSession(session: StoredSession): Reply {
    this.#shelves.sessions.delete(session.id);
    return noContentReply();
  }

  #deleteSessions(account: Account): Reply {
    const sessions = this.#sessionsOf(account);
    for (const { id } of sessions) this.#shelves.sessions.delete(id);
    return okReply({ deleted: sessions.length });
  }

  #inspect(call: Call): Reply {
    const action = call.path.length === 2 ? call.path[1] : undefined;
    if (action === "state") return only(call, { GET: () => this.#state() });
    if (action === "reset") return only(call, { POST: () => this.#reset() });
    if (action === "expire") {
      return only(call, {
        POST: () => {
          for (const name of Object.keys(this.#accounts.signIns())) this.#accounts.revoke(name);
          return noContentReply();
        },
      });
    }
    return errorReply("not_found", "There is nothing at this path.");
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
    return okReply({
      sessions,
      sign_ins: this.#accounts.signIns(),
      open_streams: fresh.length,
      turn_count: this.#serials.count("message"),
      turns,
    });
  }

  #reset(): Reply {
    const { sessions, files, turns, counters, marks, streams } = this.#shelves;
    for (const shelf of [sessions, files, turns, counters, marks, streams]) {
      for (const [key] of [...shelf.entries()]) shelf.delete(key);
    }
    return noContentReply();
  }

  #sessionsOf(account: Account): StoredSession[] {
    return [...this.#shelves.sessions.entries()]
      .map(([, session]) => session)
      .filter((s) => s.account === account.id);
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

function only(call: Call, methods: Readonly<Record<string, () => Reply>>): Reply {
  const method = methods[call.method];
  return method === undefined ? errorReply("invalid_request", "Wrong method.", 405) : method();
}

const refuseAccount = ({ refused }: AuthFailure): Reply => {
  if (refused === "invalid_credentials") return errorReply(refused, "The login or the password is wrong.");
  if (refused === "account_suspended") return errorReply(refused, "The account is suspended.");
  return errorReply(refused, "The token has expired or was never given.");
};

function readObjectAsRecord(text: string | null): Record<string, unknown> {
  const value = parseJson(text);
  return isObject(value) ? { ...value } : {};
}

const readObject = (text: string | null): Map<string, unknown> =>
  new Map(Object.entries(readObjectAsRecord(text)));
