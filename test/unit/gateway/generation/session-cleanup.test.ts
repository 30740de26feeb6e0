import { describe, expect, test } from "vitest";
import { GenerationRun } from "../../../support/generation-run.ts";
import {
  type MemoryGateway,
  type MemoryGatewayOptions,
  pass,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import type { Reply, UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { refuses, says } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

test.each(["none", "single", "all"] as const)(
  "deletes sessions at the provider as auto_delete %s says",
  async (mode) => {
    const gateway = await createGateway({ config: { auto_delete: { mode } } });
    await new GenerationRun(gateway).complete();
    await gateway.settle();
    const deleted = gateway.upstream.asked
      .filter(({ method }) => method === "DELETE")
      .map(({ path }) => path);
    expect(deleted).toEqual({ none: [], single: ["/api/sessions/session-1"], all: ["/api/sessions"] }[mode]);
  },
);

describe("with auto_delete single, no session is left at the provider", () => {
  const single: MemoryGatewayOptions = { config: { auto_delete: { mode: "single" } } };
  const isMaking = ({ method, path }: UpstreamRequest) => method === "POST" && path === "/api/sessions";
  const deleted = async (gateway: MemoryGateway) => {
    await gateway.settle();
    const requests = gateway.upstream.asked.filter(({ method }) => method === "DELETE");
    return requests.map(({ path, token }) => `${path} ${token}`);
  };

  test("if the session was created after the client had left", async () => {
    const late: Reply = { late: 8_000, reply: { json: { id: "late" } } };
    const gateway = await createGateway({
      ...single,
      other: (asked) => (isMaking(asked) ? late : undefined),
    });
    const run = new GenerationRun(gateway);
    const failed = expect(run.complete()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    run.leave();
    await pass(100);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
    await failed;
    expect(await deleted(gateway)).toEqual(["/api/sessions/late one@test#1"]);
  });

  test("if the token expired between the session and the turn", async () => {
    const gateway = await createGateway({ ...single, turns: [refuses(401, "token_expired"), says("Hi")] });
    await new GenerationRun(gateway).complete();
    expect(await deleted(gateway)).toEqual([
      "/api/sessions/session-1 one@test#2",
      "/api/sessions/session-2 one@test#2",
    ]);
  });

  test("if the account is deleted before the answer ends", async () => {
    const gateway = await createGateway({ ...single, turns: [{ late: 5_000, reply: says("Hi") }] });
    const answer = new GenerationRun(gateway).complete();
    await pass(1_000);
    await gateway.platform.configuration.update((config) => ({ ...config, accounts: [] }));
    await pass(5_000);
    await answer;
    expect(await deleted(gateway)).toEqual(["/api/sessions/session-1 one@test#1"]);
  });

  test("if the connection of the deletion is lost", async () => {
    let lost = 0;
    const other = ({ method }: UpstreamRequest) =>
      method === "DELETE" && lost++ === 0 ? "unreachable" : undefined;
    const gateway = await createGateway({ ...single, other });
    await new GenerationRun(gateway).complete();
    expect(await deleted(gateway)).toEqual(Array(2).fill("/api/sessions/session-1 one@test#1"));
  });
});
