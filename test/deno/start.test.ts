import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/development.mjs";
import { askAsHost } from "../support/ask-as-host.ts";
import { freePort } from "../support/free-port.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { until } from "../support/until.ts";

let child: ChildProcess;
let url: string;
let output = "";
const bin = join(root, "bin", "polygate.mjs");
const data = mkdtempSync(join(tmpdir(), "polygate-start-deno-"));

/** What `npm run start:deno` runs. */
beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, "scripts", "build-program.mjs")]);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  child = run({ PORT: String(port), DATA_DIR: data }, (text) => (output += text));
  await until(isUp, (up) => up, 50_000);
});

afterAll(() => {
  if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(data, { recursive: true, force: true });
});

describe("npm run build", () => {
  it("puts the image worker beside the program, where it is looked for", () => {
    expect(existsSync(join(root, "dist", "program", "deno", "image-worker.js"))).toBe(true);
  });
});

describe("npm run start:deno", () => {
  it("prints the address of the gateway and the keys", async () => {
    await until(
      async () => output,
      (said) => said.includes(url) && said.includes("sk-dev"),
    );
  });

  it("answers a chat request from the sandbox with no other set-up", async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "[[say:It works.]]" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
  });

  it("ends on a signal, and leaves nothing running", async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(await isUp()).toBe(false);
  });
});

describe("npx polygate", () => {
  it("starts from the package's bundle, and ends on a signal", async () => {
    const port = await freePort();
    let said = "";
    const args = ["--port", String(port), "--data", join(data, "npx")];
    const program = run({}, (text) => (said += text), [process.execPath, bin, ...args]);
    try {
      await until(
        async () => said,
        (text) => text.includes(join(data, "npx")),
        50_000,
      );
      expect(said).toContain("sk-dev");
      const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer sk-dev", "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "[[say:It works.]]" }] }),
      });
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It works." } }] });
      expect((await fetch(`http://127.0.0.1:${port}/admin`)).status).toBe(200);
      const rebound = { host: `evil.example:${port}`, key: "admin" };
      const config = await askAsHost(`http://127.0.0.1:${port}/admin/config`, rebound);
      expect([config.status, config.text]).toEqual([403, expect.stringContaining("localhost")]);
      const ended = once(program, "exit");
      program.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      program.kill("SIGKILL");
    }
  }, 60_000);
});

it("warns with npx polygate if the configuration opens a provider without a credential to any key", async () => {
  let said = "";
  const variables = {
    ADMIN_KEY: "of-my-own",
    PROVIDER_DRIVER: "openai",
    PROVIDER_BASE_URL: "http://127.0.0.1:1/v1",
    GATEWAY_CONFIG_JSON: '{"callers":{"unknown_keys":"pass_through"}}',
  };
  const folder = join(data, "open");
  const program = run(variables, (text) => (said += text), [
    ...[process.execPath, bin, "--port", "0", "--data", folder],
  ]);
  try {
    await until(
      async () => said,
      (text) => text.includes(folder),
      50_000,
    );
    expect(said).toMatch(/^Warning: the gateway serves any API key\. .+callers\.unknown_keys/);
    expect(said.match(/Warning/g)).toHaveLength(1);
  } finally {
    program.kill("SIGTERM");
    await once(program, "close");
  }
}, 60_000);

describe("an invalid variable", () => {
  it("ends the start with a sentence, before anything is written", async () => {
    const folder = join(data, "never");
    let said = "";
    const failed = run({ PORT: "0", DATA_DIR: folder, PROVIDER_DRIVER: "foo" }, (text) => (said += text));
    expect(await once(failed, "close")).toEqual([1, null]);
    expect(said.trimEnd()).toMatch(/^PROVIDER_DRIVER is "foo": it must be one of sessions, .+$/);
    expect(existsSync(folder)).toBe(false);
  });

  it("is reported for the port, too, which is 8787 if it is empty", async () => {
    let said = "";
    const failed = run({ PORT: "abc" }, (text) => (said += text));
    expect(await once(failed, "close")).toEqual([1, null]);
    expect(said).toBe('PORT is "abc": it must be a whole number from 0 to 65535\n');
    // The port itself may be another's: what is looked at is only that the variable is none that is wrong.
    said = "";
    const variables = { PORT: "", DATA_DIR: join(data, "never"), PROVIDER_DRIVER: "foo" };
    expect(
      await once(
        run(variables, (text) => (said += text)),
        "close",
      ),
    ).toEqual([1, null]);
    expect(said).toMatch(/^PROVIDER_DRIVER is /);
  });
});

describe("a data folder that cannot be used", () => {
  const start = async (folder: string) => {
    let said = "";
    const failed = run({ PORT: "0", DATA_DIR: folder }, (text) => (said += text));
    expect(await once(failed, "close")).toEqual([1, null]);
    return said;
  };

  it("ends the start with a sentence when another process uses it", async () => {
    const folder = join(data, "used");
    let said = "";
    const first = run({ PORT: "0", DATA_DIR: folder }, (text) => (said += text));
    try {
      await until(
        async () => said,
        (text) => text.includes(folder),
        50_000,
      );
      expect(await start(folder)).toBe(
        `Another process, or another thread of this one, uses the data folder ${folder}: end that process, or set DATA_DIR to another folder\n`,
      );
    } finally {
      first.kill("SIGTERM");
      await once(first, "close");
    }
  });

  it("ends the start with a sentence if it is invalid", async () => {
    const said = await start(join(root, "package.json"));
    expect(said).toMatch(/^The data folder \S+package\.json cannot be used: .+\n$/);
    expect(said.trimEnd()).not.toContain("\n");
  });
});

describe("a port that another program has", () => {
  const deno = join(root, "node_modules", ".bin", "deno");
  let other: LocalServer;
  let port = "";
  beforeAll(async () => {
    // It answers whatever a gateway may be asked.
    other = await serve((_, response) => response.end("ok"));
    ({ port } = new URL(other.origin));
  });
  afterAll(() => other.close());

  it.each([
    ["npx polygate", () => [process.execPath, bin, "--port", port, "--data", join(data, "taken")]],
    ["npm run start:deno", () => [process.execPath, join(root, "scripts", "start-deno.mjs")]],
    ["deno serve", () => [deno, "serve", "-A", "--host", "127.0.0.1", "--port", port, "src/deno.ts"]],
  ])("ends %s with a sentence, whatever the other one answers", async (_, command) => {
    let said = "";
    const variables = { PORT: port, DATA_DIR: join(data, "taken"), DENO_NO_UPDATE_CHECK: "1" };
    const failed = run(variables, (text) => (said += text), command());
    try {
      expect(await once(failed, "close")).toEqual([1, null]);
    } finally {
      failed.kill("SIGKILL");
    }
    expect(said.trimEnd()).toMatch(/^Polygate cannot start: another program listens on its port\. .+$/);
  });
});

it("keeps a running gateway alive after an uncaught error", async () => {
  let said = "";
  const entry = "test/support/deno-uncaught.mjs";
  const deno = join(root, "node_modules", ".bin", "deno");
  const command = [deno, "serve", "-A", "--host", "127.0.0.1", "--port", "0", entry];
  const program = run({ DATA_DIR: join(data, "uncaught") }, (text) => (said += text), command);
  try {
    const at = await until(
      async () => /Listening on (http:\S+)\/\n/.exec(said)?.[1],
      (address) => address !== undefined,
    );
    for (const path of ["/rejection", "/error", "/rejection"]) await fetch(at + path);
    await until(
      async () => said,
      (text) => (text.match(/"uncaught":"Error: of nobody"/g) ?? []).length === 3,
    );
    expect((await fetch(`${at}/healthz`)).status).toBe(200);
  } finally {
    program.kill("SIGKILL");
  }
});

it("prints the selected port if PORT is 0", async () => {
  let said = "";
  const program = run({ PORT: "0", DATA_DIR: join(data, "any") }, (text) => (said += text));
  try {
    const at = await until(
      async () => /Polygate +(http:\S+)/.exec(said)?.[1],
      (address) => address !== undefined,
      50_000,
    );
    expect((await fetch(`${at}/healthz`)).status).toBe(200);
  } finally {
    program.kill("SIGTERM");
    await once(program, "close");
  }
});

/** Starts it with variables, and tells what it prints. */
function run(
  variables: Readonly<Record<string, string>>,
  told: (text: string) => void,
  command: readonly string[] = [process.execPath, join(root, "scripts", "start-deno.mjs")],
): ChildProcess {
  const { PATH, HOME } = process.env;
  const [program = "", ...args] = command;
  const started = spawn(program, args, {
    cwd: root,
    stdio: "pipe",
    env: { PATH, HOME, NO_COLOR: "1", ...variables },
  });
  for (const stream of [started.stdout, started.stderr]) stream.setEncoding("utf8").on("data", told);
  return started;
}

async function isUp(): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
