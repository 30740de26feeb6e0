import { request } from "node:http";

/** A request with a chosen `Host` header, which `fetch` does not allow. */
export interface ResponseToHost {
  readonly host: string;
  readonly key: string;
  readonly method?: string;
  readonly body?: unknown;
}

/** Sends a request with a chosen `Host` header, as a browser does after DNS rebinding. */
export function askAsHost(
  address: string,
  { host, key, method = "GET", body }: ResponseToHost,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${key}`, "content-type": "application/json" };
    const asked = request(address, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
