import { type Conversation, contentField } from "../../conversation/conversation.ts";
import type { Credentials, SignedIn } from "../../platform/accounts.ts";
import type { Fetch } from "../../platform/upstream.ts";
import type {
  FileUpload,
  FollowUp,
  PreparedTurn,
  PrepareOptions,
  Provider,
  ProviderAccount,
  ProviderFile,
  UpstreamAccount,
  UpstreamTurn,
} from "../provider.ts";
import { SessionsApi, type TurnBody } from "./api.ts";
import { SessionTurnDecoder } from "./decoder.ts";
import { shortenPrompt } from "./input-file.ts";
import { composePrompt, renderTranscript } from "./prompt.ts";
import { type Sleep, TurnFiles } from "./turn-files.ts";

/** What the sessions driver needs from outside. */
export interface SessionsProviderOptions {
  readonly baseUrl: string;
  readonly newId: () => string;
  readonly sleep: Sleep;
}

/** The driver of the account-and-session protocol: chats live in sessions, a turn is one prompt with a parent. */
export class SessionsProvider implements Provider {
  readonly kind = "sessions";
  readonly #api: SessionsApi;
  readonly #sleep: Sleep;

  constructor(options: SessionsProviderOptions) {
    this.#api = new SessionsApi(options.baseUrl, options.newId);
    this.#sleep = options.sleep;
  }

  async signIn(credentials: Credentials, fetch: Fetch, signal: AbortSignal): Promise<SignedIn> {
    if (credentials.password === "" && credentials.token !== "") {
      return { token: credentials.token, expiresAt: 0 };
    }
    return this.#api.signIn(credentials, fetch, signal);
  }

  describeAccount(account: UpstreamAccount, signal: AbortSignal): Promise<ProviderAccount> {
    return this.#api.describeAccount(account, signal);
  }

  createSession(account: UpstreamAccount, signal: AbortSignal): Promise<string> {
    return this.#api.createSession(account, signal);
  }

  deleteSession(account: UpstreamAccount, sessionId: string, signal: AbortSignal): Promise<void> {
    return this.#api.deleteSession(account, sessionId, signal);
  }

  deleteAllSessions(account: UpstreamAccount, signal: AbortSignal): Promise<number> {
    return this.#api.deleteAllSessions(account, signal);
  }

  prepare(conversation: Conversation, options: PrepareOptions): PreparedTurn {
    const { model, sampling } = conversation;
    const transcript = renderTranscript(conversation, options.thinkingInjection);
    const promptText = composePrompt(transcript, "");
    const { inputFileMinChars } = options;
    const long = inputFileMinChars !== null && promptText.length >= inputFileMinChars;
    const shortened = long ? shortenPrompt(transcript) : null;
    const compose = shortened?.compose ?? ((suffix: string) => composePrompt(transcript, suffix));
    const files = new TurnFiles(
      this.#api,
      {
        attachments: transcript.attachments,
        textFiles: shortened?.files ?? [],
        model: model.upstream,
        vision: model.vision,
        field: contentField(conversation),
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
        inSession?: (sessionId: string) => void,
      ) {
        const fileIds = await files.ids(account, signal);
        const sessionId = followUp?.sessionId ?? (await api.createSession(account, signal));
        inSession?.(sessionId);
        const turn: TurnBody = {
          parent_message_id: followUp?.parentMessageId || null,
          model: model.upstream,
          prompt: compose(followUp?.suffix ?? ""),
          file_ids: fileIds,
          thinking: conversation.thinking && model.thinking,
          search: model.search,
          ...(sampling.temperature === undefined ? {} : { temperature: sampling.temperature }),
          ...(sampling.topP === undefined ? {} : { top_p: sampling.topP }),
          ...(sampling.stop === undefined ? {} : { stop: sampling.stop }),
        };
        const body = await api.postTurn(account, sessionId, turn, signal);
        return turnOf(account, sessionId, body);
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
    return turnOf(account, sessionId, body);
  }

  uploadFile(account: UpstreamAccount, upload: FileUpload, signal: AbortSignal): Promise<ProviderFile> {
    return this.#api.uploadFile(account, upload, signal);
  }

  readFile(account: UpstreamAccount, fileId: string, signal: AbortSignal): Promise<ProviderFile> {
    return this.#api.readFile(account, fileId, signal);
  }
}

function turnOf(account: UpstreamAccount, sessionId: string, body: ReadableStream<Uint8Array>): UpstreamTurn {
  return { sessionId, body, decoder: new SessionTurnDecoder(account.token) };
}
