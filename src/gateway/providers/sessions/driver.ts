import type { Conversation } from "../../../core/conversation/conversation.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import type { Credentials, SignInResult } from "../../../core/ports/accounts.ts";
import type { Fetch } from "../../../core/ports/upstream.ts";
import type { FollowUp, PreparedTurn, UpstreamTurn } from "../answers/upstream-turn.ts";
import type { Driver, ExchangeKind, ProviderOptions } from "../driver.ts";
import type { FilesApi } from "../files/files-api.ts";
import type {
  ChatSessionsApi,
  PrepareOptions,
  Provider,
  ProviderAccount,
  ProviderCapabilities,
} from "../provider.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import { SessionsApi, type TurnBody } from "./api.ts";
import { SessionTurnDecoder } from "./decoder.ts";
import { composePrompt, renderTranscript } from "./prompt.ts";
import { shortenPrompt } from "./prompt-shortening.ts";
import { type Sleep, TurnFiles } from "./turn-files.ts";

const TURN = /\/api\/sessions\/([^/]+)\/turns(\/[^/]+\/continue)?$/;

const OTHER_EXCHANGES: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/\/api\/login$/, "login"],
  [/\/api\/account$/, "account"],
  [/\/api\/sessions(?:\/[^/]+)?$/, "session"],
  [/\/api\/files(?:\/[^/]+)?$/, "file"],
];

/** The account-and-session protocol: chats live in sessions, and each turn is one prompt with a parent message. */
export const sessionsDriver = {
  id: "sessions",
  signsIn: true,
  defaultStrategy: "round_robin",
  servesCatalogue: true,
  create: (options: ProviderOptions) => new SessionsProvider(options),
  classifyExchange: (path: string): ExchangeKind => {
    const turn = TURN.exec(path);
    if (turn === null) {
      return { label: OTHER_EXCHANGES.find(([pattern]) => pattern.test(path))?.[1] ?? "other" };
    }
    const [, session = "", continued] = turn;
    return { label: continued === undefined ? "completion" : "continue", round: { session } };
  },
  createCaptureDecoder: () => new SessionTurnDecoder(""),
} satisfies Driver;

/** How long the creation of a session may continue after its request was aborted, milliseconds. */
const LATE_SESSION_MS = 10_000;

class SessionsProvider implements Provider {
  readonly capabilities: ProviderCapabilities = {
    images: "catalogue",
    search: "catalogue",
    options: new Set(["temperature", "topP", "stop"]),
  };
  readonly #api: SessionsApi;
  readonly #sleep: Sleep;

  readonly sessions: ChatSessionsApi;
  readonly files: FilesApi;

  constructor(options: Pick<ProviderOptions, "baseUrl" | "newId" | "sleep">) {
    const api = new SessionsApi(options.baseUrl, options.newId);
    this.#api = api;
    this.#sleep = options.sleep;
    this.sessions = {
      create: (account, signal) => api.createSession(account, signal),
      delete: (account, sessionId, signal) => api.deleteSession(account, sessionId, signal),
      deleteAll: (account, signal) => api.deleteAllSessions(account, signal),
    };
    this.files = {
      showsOwnIds: true,
      upload: (account, upload, signal) => api.uploadFile(account, upload, signal),
      read: (account, fileId, signal) => api.readFile(account, fileId, signal),
    };
  }

  async signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignInResult> {
    if (credentials.password === "" && credentials.token !== "") {
      return { token: credentials.token, expiresAt: 0 };
    }
    return this.#api.signIn(credentials, fetch, signal);
  }

  checkAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    return this.#api.checkAccount(account, signal);
  }

  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { model } = conversation;
    const { temperature, topP, stop } = conversation.options;
    const transcript = renderTranscript(conversation, options.thinkingInjection);
    const promptText = composePrompt(transcript, "");
    const { inputFileMinChars } = options;
    const isLong = inputFileMinChars !== null && promptText.length >= inputFileMinChars;
    const shortened = isLong ? shortenPrompt(transcript) : null;
    const compose = shortened?.compose ?? ((suffix: string) => composePrompt(transcript, suffix));
    const files = new TurnFiles(
      this.#api,
      {
        attachments: transcript.attachments,
        textFiles: shortened?.files ?? [],
        model: model.upstream,
        vision: model.vision,
        field: conversation.contentField,
      },
      options,
      this.#sleep,
    );
    const api = this.#api;
    return {
      promptText,
      load: (signal: AbortSignal) => files.load(signal),
      async open(
        account: UpstreamAccount,
        signal: AbortSignal,
        followUp: FollowUp | null,
        inSession?: (session: Promise<string>) => void,
      ) {
        const fileIds = await files.ids(account, signal);
        const sessionId = followUp?.sessionId ?? (await newSession(api, account, signal, inSession));
        const turn: TurnBody = {
          parent_message_id: followUp?.parentMessageId || null,
          model: model.upstream,
          prompt: compose(followUp?.suffix ?? ""),
          file_ids: fileIds,
          thinking: conversation.thinking && model.thinking,
          search: model.search,
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { top_p: topP }),
          ...(stop === undefined ? {} : { stop }),
        };
        const body = await api.postTurn(account, sessionId, turn, signal);
        return createTurn(account, sessionId, body);
      },
    };
  }

  async resume(
    account: UpstreamAccount,
    sessionId: string,
    messageId: string,
    signal: AbortSignal,
  ): Promise<UpstreamTurn> {
    const body = await this.#api.continueTurn(account, sessionId, messageId, signal);
    return createTurn(account, sessionId, body);
  }
}

/**
 * Creates a session for a turn. An abort rejects at once, but the creation continues for a while: otherwise a session
 * that the provider still creates would have no known id and would never be deleted.
 */
async function newSession(
  api: SessionsApi,
  account: UpstreamAccount,
  signal: AbortSignal,
  inSession: (session: Promise<string>) => void = () => undefined,
): Promise<string> {
  signal.throwIfAborted();
  const creationAbort = new AbortController();
  const callerAborted = Promise.withResolvers<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    callerAborted.reject(signal.reason);
    // The provider has already used its whole timeout.
    if (signal.reason instanceof ProviderError) creationAbort.abort(signal.reason);
    else timer = setTimeout(() => creationAbort.abort(signal.reason), LATE_SESSION_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  const creation = api.createSession(account, creationAbort.signal).finally(() => {
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
  });
  inSession(creation);
  return Promise.race([creation, callerAborted.promise]);
}

function createTurn(
  account: UpstreamAccount,
  sessionId: string,
  body: ReadableStream<Uint8Array>,
): UpstreamTurn {
  return { sessionId, body, decoder: new SessionTurnDecoder(account.token) };
}
