import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { serve } from "./local-server.ts";

/** A request as the vendor received it. */
export interface VendorRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer<ArrayBuffer>;
  /** Whether the whole request arrived. */
  readonly isComplete: boolean;
}

/** What the vendor answers. Texts and bytes are sent as they are; `cut`: then the connection is reset. */
export interface VendorAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Uint8Array;
  readonly isCut?: boolean;
}

type VendorScript = (request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>;

/** A vendor with endpoints that need no translation: a real HTTP server that records requests and answers by a script. */
export interface PassthroughVendor {
  /** The origin, without a path. */
  readonly url: string;
  /** Received requests, oldest first. */
  readonly received: VendorRequest[];
  /** Bytes of request bodies that have arrived, also of unfinished ones. */
  receivedBytes: number;
  /** Answers all requests. */
  script: VendorScript;
  readonly server: Server;
  close(): Promise<void>;
}

/** Answers with JSON. */
export const json = (value: unknown, status = 200): VendorAnswer => ({
  status,
  type: "application/json",
  body: JSON.stringify(value),
});

/** Answers with events. */
export const events = (values: readonly object[]): VendorAnswer => ({
  type: "text/event-stream",
  body: values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""),
});

/** The form that a request has. */
export function formOf({ body, headers }: VendorRequest): Promise<FormData> {
  return new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
}

/** Starts a vendor on a free port. */
export async function startVendor(script: VendorScript): Promise<PassthroughVendor> {
  const { origin, server, close } = await serve(answer);
  const vendor: PassthroughVendor = {
    url: origin,
    received: [],
    receivedBytes: 0,
    script,
    server,
    close,
  };
  return vendor;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    let isComplete = true;
    try {
      for await (const piece of request) {
        pieces.push(piece);
        vendor.receivedBytes += piece.length;
      }
    } catch {
      isComplete = false;
    }
    const { method = "", url: path = "", headers } = request;
    const received = { method, path, headers, body: Buffer.concat(pieces), isComplete };
    vendor.received.push(received);
    if (!isComplete) return;
    const { status = 200, type = "application/json", body, isCut } = await vendor.script(received);
    response.writeHead(status, { "content-type": type });
    if (isCut === true) response.write(body, () => response.socket?.resetAndDestroy());
    else response.end(body);
  }
}
