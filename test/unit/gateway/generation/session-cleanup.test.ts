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

const gateway = useMemoryGateway();

test.each(["none", "single", "all"] as const)(
  "deletes sessions at the provider as auto_delete %s says",
  async (mode) => {
    const made = await gateway({ config: { auto_delete: { mode } } });
    await new GenerationRun(made).complete();
    await made.settle();
    const deleted = made.upstream.asked.filter(({ method }) => method === "DELETE").map(({ path }) => path);
    expect(deleted).toEqual({ none: [], single: ["/api/sessions/session-1"], all: ["/api/sessions"] }[mode]);
  },
);

describe("with auto_delete single, no session is left at the provider", () => {
  const single: MemoryGatewayOptions = { config: { auto_delete: { mode: "single" } } };
  const isMaking = ({ method, path }: UpstreamRequest) => method === "POST" && path === "/api/sessions";
  const deleted = async (made: MemoryGateway) => {
    await made.settle();
    const requests = made.upstream.asked.filter(({ method }) => method === "DELETE");
    return requests.map(({ path, token }) => `${path} ${token}`);
  };

  test("if the session was created after the client had left", async () => {
    const late: Reply = { late: 8_000, reply: { json: { id: "late" } } };
    const made = await gateway({ ...single, other: (asked) => (isMaking(asked) ? late : undefined) });
    const run = new GenerationRun(made);
    const failed = expect(run.complete()).rejects.toMatchObject({ status: 499 });
    await pass(1_000);
    run.leave();
    await pass(100);
    expect(await made.platform.accounts.getStatus()).toMatchObject({ in_use: 0 });
    await failed;
    expect(await deleted(made)).toEqual(["/api/sessions/late one@test#1"]);
  });

  test("if the token expired between the session and the turn", async () => {
    const made = await gateway({ ...single, turns: [refuses(401, "token_expired"), says("Hi")] });
    await new GenerationRun(made).complete();
    expect(await deleted(made)).toEqual([
      "/api/sessions/session-1 one@test#2",
      "/api/sessions/session-2 one@test#2",
    ]);
  });

  test("if the account is deleted before the answer ends", async () => {
    const made = await gateway({ ...single, turns: [{ late: 5_000, reply: says("Hi") }] });
    const answer = new GenerationRun(made).complete();
    await pass(1_000);
    await made.platform.configuration.update((config) => ({ ...config, accounts: [] }));
    await pass(5_000);
    await answer;
    expect(await deleted(made)).toEqual(["/api/sessions/session-1 one@test#1"]);
  });

  test("if the connection of the deletion is lost", async () => {
    let lost = 0;
    const other = ({ method }: UpstreamRequest) =>
      method === "DELETE" && lost++ === 0 ? "unreachable" : undefined;
    const made = await gateway({ ...single, other });
    await new GenerationRun(made).complete();
    expect(await deleted(made)).toEqual(Array(2).fill("/api/sessions/session-1 one@test#1"));
  });
});
