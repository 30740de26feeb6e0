import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** Formats in which programs echo received text. */
export const ECHO_FORMS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  json: (text) => JSON.stringify({ request: text }),
  percent: (text) => encodeURIComponent(text),
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(`>${text}`).toString("base64url"),
};

/** A received request. */
export interface EchoedRequest {
  readonly path: string;
  readonly headers: string;
  readonly body: string;
}

/**
 * A server that echoes received credentials in its errors. It acts as a provider with the account protocol (a login fails
 * if its e-mail starts with the name of a form), as a proxy that forwards nothing, as the hosting platform, and as a web
 * server.
 */
export class EchoUpstream {
  readonly heard: EchoedRequest[] = [];
  readonly #token: string;
  readonly #server: Server;

  private constructor(token: string) {
    this.#token = token;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** Starts on a free port. `token` is the token of a successful login. */
  static async start(token: string): Promise<EchoUpstream> {
    const echo = new EchoUpstream(token);
    echo.#server.listen(0, "127.0.0.1");
    await once(echo.#server, "listening");
    return echo;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");
    return address.port;
  }

  /** Without a trailing slash. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "/", headers } = request;
    let body = "";
    for await (const piece of request) body += piece;
    this.heard.push({ path: url, headers: JSON.stringify(headers), body });
    const credentials = `${headers.authorization ?? ""} ${headers["proxy-authorization"] ?? ""}`;
    const json = (status: number, value: unknown) =>
      response
        .writeHead(status, { "content-type": "application/json", "x-debug": credentials.trim() || "none" })
        .end(JSON.stringify(value));
    /** The echoed text comes first, because the gateway forwards only the start of a message. */
    const refuse = (status: number, form: string, what: string) =>
      json(status, { error: { code: "oops", message: `Cannot ${(ECHO_FORMS[form] ?? String)(what)}` } });

    // A proxy receives absolute URLs.
    if (url.startsWith("http:"))
      return void refuse(502, new URL(url).searchParams.get("form") ?? "plain", credentials);
    if (url === "/api/login") {
      const form = Object.keys(ECHO_FORMS).find((name) => body.includes(`"${name}@`));
      return void (form === undefined
        ? json(200, { token: this.#token, expires_at: Math.floor(Date.now() / 1_000) + 86_400 })
        : refuse(500, form, body));
    }
    if (url === "/api/account") return void json(200, { id: "echo", session_count: 0 });
    if (url === "/api/sessions" && method === "POST") return void json(201, { id: "session-1" });
    if (url.endsWith("/turns")) {
      const form = /form=(\w+)/.exec(body)?.[1] ?? "plain";
      const status = Number(/status=(\d+)/.exec(body)?.[1] ?? 0);
      if (status !== 0) return void refuse(status, form, credentials);
      const error = { code: "server_error", message: (ECHO_FORMS[form] ?? String)(credentials) };
      const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        event("start", { message_id: "1" }) + event("text", { text: "It goes " }) + event("error", error),
      );
      return;
    }
    if (url.startsWith("/hosting/"))
      return void refuse(400, url.includes("form=") ? "plain" : "base64", `${body} ${credentials}`);
    if (url === "/release") return void json(200, { tag_name: "v9.0.0" });
    if (url === "/picture.png") {
      response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from("89504e470d0a1a0a", "hex"));
      return;
    }
    json(404, { error: { code: "not_found", message: credentials } });
  }
}
