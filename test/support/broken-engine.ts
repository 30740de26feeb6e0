import { serve } from "./local-server.ts";

/** A provider that fails until its repair. */
export interface BrokenEngine {
  /** Its entry in the configuration: the provider `engine` with the model `m`. */
  readonly provider: object;
  repair(): void;
  close(): Promise<void>;
}

/** Starts a provider that refuses all requests until its repair. */
export async function startBrokenEngine(): Promise<BrokenEngine> {
  let isRepaired = false;
  const message = { role: "assistant", content: "Hi" };
  const { origin, close } = await serve((_, response) => {
    response.writeHead(isRepaired ? 200 : 500, { "content-type": "application/json" });
    response.end(
      isRepaired
        ? JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] })
        : JSON.stringify({ error: { message: "out of order" } }),
    );
  });
  return {
    provider: {
      id: "engine",
      driver: "openai",
      base_url: `${origin}/v1`,
      token: "secret",
      models: { m: "m" },
    },
    repair: () => {
      isRepaired = true;
    },
    close,
  };
}
