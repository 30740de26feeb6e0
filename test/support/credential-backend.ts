import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { jwtVerify } from "jose";
import { findSignatureFault } from "./aws-signature.ts";

/** A request that reached the backend's API. */
export interface BackendRequest {
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A request that reached the token endpoint, with its form. */
export interface TokenRequest {
  readonly headers: IncomingMessage["headers"];
  readonly form: Readonly<Record<string, string>>;
}

export const CLIENT = { id: "client of the gateway", secret: "client-secret-9f8e7d6c5b4a" };
export const AWS_KEYS = {
  accessKeyId: "AKIDEXAMPLE0123",
  secretAccessKey: "aws-secret-key/with+signs=0123456789",
  region: "us-east-1",
  service: "bedrock",
};
export const FIRST_REFRESH_TOKEN = "refresh-token-0-a1b2c3d4e5f6";

/** The key pair of all backends: making one takes a quarter of a second. */
const SIGNING_KEYS = generateKeyPairSync("rsa", { modulusLength: 2048 });

/**
 * A stand-in for a vendor with a token endpoint. It rotates refresh tokens, each of which works once, and verifies the
 * signatures of Google's assertions and of requests to AWS. Its API answers only bearers of an access token that it has
 * issued, Azure's key, and signed requests.
 */
export class CredentialBackend {
  readonly requests: BackendRequest[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  /** Uses of a refresh token that had been replaced. */
  reused = 0;
  /** Status with which the token endpoint fails; null: it works. */
  tokenStatus: number | null = null;
  /** The key file of a service account. */
  keyFile = "";
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });
  #refreshToken = FIRST_REFRESH_TOKEN;
  #issued = 0;
  #valid = new Set<string>();

  static async start(): Promise<CredentialBackend> {
    const backend = new CredentialBackend();
    backend.#server.listen(0, "127.0.0.1");
    await once(backend.#server, "listening");
    backend.keyFile = JSON.stringify({
      type: "service_account",
      client_email: "robot@project.example",
      private_key_id: "key-1",
      private_key: SIGNING_KEYS.privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `${backend.url}/token`,
    });
    return backend;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the backend has no port");
    return `http://127.0.0.1:${address.port}`;
  }

  /** The access tokens become invalid before their time. */
  revokeAccessTokens(): void {
    this.#valid.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const bytes = Buffer.concat(pieces);
    const body = bytes.toString();
    const { pathname, search } = new URL(request.url ?? "/", this.url);
    const json = (status: number, answer: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    if (pathname === "/token") {
      const form = Object.fromEntries(new URLSearchParams(body));
      this.tokenRequests.push({ headers: request.headers, form });
      const [status, answer] = await this.#issue(form, request.headers.authorization);
      json(status, answer);
      return;
    }
    this.requests.push({ path: pathname, query: search, headers: request.headers, body });
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const signed = {
      method: request.method ?? "",
      target: request.url ?? "/",
      headers: request.headers,
      body: bytes,
    };
    const signatureFault = findSignatureFault(signed, AWS_KEYS);
    if (token.startsWith("AWS4") && signatureFault !== "") {
      json(403, { message: signatureFault });
    } else if (
      !token.startsWith("AWS4") &&
      !this.#valid.has(token) &&
      request.headers["api-key"] !== "an-azure-key-0123456789"
    ) {
      json(401, { error: { message: "Invalid token.", code: "invalid_api_key" } });
    } else if (pathname.endsWith("/files")) {
      json(200, { id: "file-1", object: "file", bytes: 5, filename: "a.txt", purpose: "user_data" });
    } else if (/:(?:streamR|r)awPredict$/.test(pathname)) {
      answerMessage(response, pathname.includes("stream"));
    } else if (pathname.endsWith("/models")) {
      json(200, { object: "list", data: [{ id: "m", object: "model" }] });
    } else {
      const message = { role: "assistant", content: "Let in." };
      json(200, {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      });
    }
  }

  async #issue(
    form: Readonly<Record<string, string>>,
    authorization: string | undefined,
  ): Promise<[number, object]> {
    if (this.tokenStatus !== null) return [this.tokenStatus, { error: "server_error", ...form }];
    const grant = form["grant_type"];
    if (grant === "urn:ietf:params:oauth:grant-type:jwt-bearer") {
      try {
        const { payload } = await jwtVerify(form["assertion"] ?? "", SIGNING_KEYS.publicKey, {
          issuer: "robot@project.example",
          audience: `${this.url}/token`,
          algorithms: ["RS256"],
          maxTokenAge: "1h",
        });
        if (payload["scope"] !== "https://www.googleapis.com/auth/cloud-platform") throw new Error("scope");
        return [200, this.#newToken()];
      } catch {
        return [400, { error: "invalid_grant" }];
      }
    }
    const basic = `Basic ${Buffer.from("client+of+the+gateway:client-secret-9f8e7d6c5b4a").toString("base64")}`;
    const isClient = form["client_id"] === CLIENT.id && form["client_secret"] === CLIENT.secret;
    if (!isClient && authorization !== basic)
      return [401, { error: "invalid_client", error_description: JSON.stringify(form) }];
    if (grant === "client_credentials") return [200, this.#newToken()];
    if (form["refresh_token"] !== this.#refreshToken) {
      this.reused += 1;
      return [400, { error: "invalid_grant", error_description: JSON.stringify(form) }];
    }
    this.#refreshToken = `refresh-token-${this.#issued + 1}-f6e5d4c3b2a1`;
    return [200, { ...this.#newToken(), refresh_token: this.#refreshToken }];
  }

  #newToken() {
    this.#issued += 1;
    const token = `access-token-${this.#issued}-0123456789`;
    this.#valid.add(token);
    return { access_token: token, token_type: "Bearer", expires_in: 3600 };
  }
}

/** Answers a request in the message style. */
function answerMessage(response: ServerResponse, isStreamed: boolean): void {
  const usage = { input_tokens: 3, output_tokens: 2 };
  const head = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_sequence: null };
  if (!isStreamed) {
    const content = [{ type: "text", text: "Let in." }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...head, content, stop_reason: "end_turn", usage }));
    return;
  }
  const events = [
    { type: "message_start", message: { ...head, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let in." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}
