import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../../scripts/development.mjs";
import {
  addressOf,
  banner,
  describeEngineModels,
  describeStoppedProvider,
  nodeProblem,
  portProblem,
  startMessage,
  varsOf,
} from "../../../scripts/launch.mjs";
import { argumentProblem } from "../../../scripts/options.mjs";
import { freePort } from "../../support/free-port.ts";
import { serve } from "../../support/local-server.ts";

describe("the messages of a start", () => {
  it.each(["22.12.0", "22.13.1", "24.0.0", "26.1.0"])("contain nothing about Node %s", (version) => {
    expect(nodeProblem(version)).toBe("");
  });

  it.each(["18.20.0", "20.20.2", "22.11.0"])(
    "contain a sentence about Node %s, which is too old",
    (version) => {
      expect(nodeProblem(version)).toContain(`needs Node 22.12 or newer, and this is ${version}.`);
    },
  );

  it("name the provider that the arguments choose", () => {
    const args = [
      "--port",
      "1",
      "--var",
      "PROVIDER_DRIVER:openai",
      "PROVIDER_BASE_URL:http://e:1/v1",
      "--ip=x:y",
    ];
    const vars = varsOf([...args, "--var=ADMIN_KEY:mine"]);
    expect(vars).toEqual({
      PROVIDER_DRIVER: "openai",
      PROVIDER_BASE_URL: "http://e:1/v1",
      ADMIN_KEY: "mine",
    });
    expect(banner("http://h:1", vars, [])).toContain("Provider   http://e:1/v1 (driver openai)");
  });

  it("contain the admin key only if it is the one of development, and the sandbox only if there is one", () => {
    const development = { GATEWAY_DEVELOPMENT: "true", ADMIN_KEY: "admin" };
    expect(banner("http://h:1", development, [])).toMatch(/admin key: admin[\s\S]*the sandbox/);
    const other = banner("http://h:1", { ADMIN_KEY: "secret" }, []);
    expect(other).not.toMatch(/secret|sandbox|sk-dev/);
    expect(other).toContain("none: set PROVIDER_BASE_URL");
  });

  it("name a provider whose program does not run, and no other", async () => {
    const port = await freePort();
    const vars = { PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1` };
    expect(await describeStoppedProvider(vars)).toEqual([
      ["Note", `no program listens at 127.0.0.1:${port} yet: requests fail until one does`],
    ]);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    expect(await describeStoppedProvider(vars)).toEqual([]);
    server.close();
    expect(await describeStoppedProvider({})).toEqual([]);
  });
});

describe("the models of an engine at a start", () => {
  const engine = {
    ADMIN_KEY: "mine",
    PROVIDER_DRIVER: "openai",
    PROVIDER_BASE_URL: "http://e:1/v1",
    PROVIDER_MODELS: '{"provider-v4-flash":"qwen3:8b","provider-v4-pro":"llama3.2"}',
  };
  /** Describes them if the gateway answers like this. */
  const describeAnswer = async (status: number, body: object | string, vars: object = engine) => {
    const gateway = await serve((_, response) => {
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    });
    try {
      return await describeEngineModels(gateway.origin, { ...vars });
    } finally {
      await gateway.close();
    }
  };

  it("are named if PROVIDER_MODELS names others", async () => {
    expect(await describeAnswer(200, { models: ["qwen3:8b", "llama3.2:70b"] })).toEqual([
      ["Note", "PROVIDER_MODELS names llama3.2, but the engine lists qwen3:8b, llama3.2:70b"],
    ]);
  });

  it("are not all named if there are many", async () => {
    const models = Array.from({ length: 11 }, (_, index) => `m${index}`);
    const [[, text] = []] = await describeAnswer(200, { models });
    expect(text).toMatch(/names qwen3:8b, llama3.2, but the engine lists m0, .*, m9, …$/);
  });

  it.each([
    [["qwen3:8b", "llama3.2"]],
    [["qwen3:8b", "llama3.2:latest"]],
    [["org/qwen3:8b", "llama3.2-20260101"]],
    [[]],
  ])("need no word if they are %j", async (models) => {
    expect(await describeAnswer(200, { models })).toEqual([]);
  });

  it("are explained if the engine has no list of them", async () => {
    const detail = "http://e:1 has no list of models (status 404), but http://e:1/v1 has";
    expect(await describeAnswer(404, { detail })).toEqual([["Note", detail]]);
  });

  it.each([
    [501, { detail: "no list" }],
    [502, { detail: "refused" }],
    [200, "no JSON"],
    [404, "null"],
  ])("need no word if they are unknown: %i %j", async (status, body) => {
    expect(await describeAnswer(status, body)).toEqual([]);
  });

  it.each([
    { ...engine, PROVIDER_DRIVER: "sessions" },
    { ...engine, PROVIDER_BASE_URL: "" },
    { ...engine, PROVIDER_MODELS: "[" },
  ])("need no word without an engine or names for it", async (vars) => {
    expect(await describeAnswer(200, { models: ["other"] }, vars)).toEqual([]);
  });
});

describe("the accounts of a development start", () => {
  const development = { GATEWAY_DEVELOPMENT: "true", PROVIDER_BASE_URL: "http://e:1/v1" };

  it.each([
    [
      { ...development, PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "sk-real" },
      /Accounts +those in the console.*have the key in PROVIDER_TOKEN/,
    ],
    [
      { ...development, PROVIDER_DRIVER: "openai" },
      /Accounts +none needed: requests go to the engine without a key \(PROVIDER_TOKEN is not set\)/,
    ],
    [
      { ...development, PROVIDER_DRIVER: "openai", PROVIDER_TOKEN: "none" },
      /Accounts +none needed: requests go to the engine without a key \(PROVIDER_TOKEN is not set\)/,
    ],
    [
      development,
      /Accounts +three named one, two and three@sandbox\.test, .*sign in with the password "sandbox"/,
    ],
  ])("are described if there are any, without their keys: %j", (vars, told) => {
    const text = banner("http://h:1", vars, []);
    expect(text).toMatch(told);
    expect(text).not.toContain("sk-real");
  });

  it.each([
    [{ GATEWAY_DEVELOPMENT: "true" }],
    [{ PROVIDER_BASE_URL: "http://e:1/v1" }],
    [{ ...development, GATEWAY_CONFIG_JSON: "{}" }],
  ])("are omitted with the default sandbox, in a deployment, and with an own configuration: %j", (vars) => {
    expect(banner("http://h:1", vars, [])).not.toContain("Accounts");
  });
});

describe("the number of accounts in the messages of a development start", () => {
  const sandbox = { GATEWAY_DEVELOPMENT: "true" };
  const bridge = { ...sandbox, PROVIDER_BASE_URL: "http://bridge.test" };
  const engine = { ...bridge, PROVIDER_DRIVER: "openai" };

  it.each([
    [3, "the sandbox, with 3 accounts; see"],
    [1, "the sandbox, with 1 account; see"],
    [null, "the sandbox; see"],
    [0, "the sandbox; see"],
  ])("is the present one beside the sandbox: %j", (count, told) => {
    const text = banner("http://h:1", sandbox, [], count);
    expect(text).toContain(`Provider   ${told}`);
    expect(text.includes("Accounts")).toBe(count === 0);
  });

  it("leads to what must be done if there is none and the provider needs one", () => {
    const none = "Accounts   none: requests fail until you add one in the console";
    expect(banner("http://h:1", sandbox, [], 0)).toContain(`${none}, for example one@sandbox.test`);
    expect(banner("http://h:1", bridge, [], 0)).toContain(`${none}\n`);
    expect(banner("http://h:1", { ...sandbox, GATEWAY_CONFIG_JSON: "{}" }, [], 0)).toContain(none);
    expect(banner("http://h:1", engine, [], 0)).not.toContain(none);
  });

  it.each([
    [200, { accounts: 2 }, "with 2 accounts"],
    [401, { error: {} }, "the sandbox;"],
  ])("is asked of the gateway, which answers %i", async (status, body, told) => {
    const asked: unknown[] = [];
    const server = createHttpServer(({ url, headers: { authorization } }, response) => {
      asked.push([url, authorization]);
      response.writeHead(status).end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const place = server.address();
    if (place === null || typeof place === "string") throw new Error("it has a port");
    const message = await startMessage(
      `http://127.0.0.1:${place.port}`,
      { ...sandbox, ADMIN_KEY: "mine" },
      [],
    );
    expect(message).toContain(told);
    expect(message).not.toContain("mine");
    expect(asked).toEqual([["/admin/providers/default", "Bearer mine"]]);
    server.close();
  });
});

describe("a start", () => {
  it.each([
    ["http", "127.0.0.1", "http://127.0.0.1:8787"],
    ["http", "0.0.0.0", "http://127.0.0.1:8787"],
    ["http", "*", "http://127.0.0.1:8787"],
    ["http", "::", "http://[::1]:8787"],
    ["http", "::1", "http://[::1]:8787"],
    ["http", "[::1]", "http://[::1]:8787"],
    ["https", "localhost", "https://localhost:8787"],
  ])("over %s on %s is reached at an address", (scheme, host, address) => {
    expect(addressOf(scheme, host, "8787")).toBe(address);
  });

  it.each(["0", "1", "8787", "65535"])("accepts the port %s", (port) => {
    expect(portProblem("PORT", port)).toBe("");
  });

  it.each(["abc", "", "-1", "80.5", "65536", "0x50", "8787 8788"])(
    "refuses the port %j in a sentence",
    (port) => {
      expect(portProblem("--port", port)).toBe(
        `--port is ${JSON.stringify(port)}: it must be a whole number from 0 to 65535`,
      );
    },
  );

  it("shows the output of a program that cannot be reached after a while", async () => {
    const program = "console.log('I am elsewhere'); setInterval(() => {}, 1000)";
    expect(await firstWord(program, "http://127.0.0.1:0", "{ holdMs: 50 }")).toContain("I am elsewhere");
  });

  it("says so if it takes long, and holds back the program's output", async () => {
    const program = "console.log('Total (229 modules)'); setInterval(() => {}, 1000)";
    expect(await firstWord(program, "http://127.0.0.1:0", "{ noteMs: 300 }")).toBe("Still starting ...\n");
  });

  it("is reported for a quiet program as soon as it answers", async () => {
    const port = await freePort();
    const program = `require("node:http").createServer((_, response) => response.end()).listen(${port}, "127.0.0.1")`;
    const address = `http://127.0.0.1:${port}`;
    expect(await firstWord(program, address, `{ quietPort: "${port}" }`)).toBe(`reached ${address}\n`);
  });
});

/** What a launcher of a program says first. */
async function firstWord(program: string, address: string, how: string): Promise<string> {
  const script = `import { launch } from ${JSON.stringify(new URL("../../../scripts/launch.mjs", import.meta.url).href)};
    launch("it", process.execPath, ["-e", ${JSON.stringify(program)}], {}, () => "${address}", (at) => "reached " + at, ${how});`;
  const started = spawn(process.execPath, ["--input-type=module", "-e", script]);
  try {
    const [said] = await once(started.stdout, "data");
    return String(said);
  } finally {
    started.kill();
    await once(started, "exit");
  }
}

describe("the arguments of a start", () => {
  it.each([
    [[]],
    [["--port", "9400", "--host=127.0.0.1", "--no-minify"]],
    [["--minify", "--port=1"]],
    [["--var", "A:b", "C:d=e", "--var=E:f", "G:h", "--log-level", "warn"]],
    [["--var", 'PROVIDER_MODELS:{"a":"b"}']],
  ])("%j are passed on", (args) => {
    expect(argumentProblem("npm start", args, {})).toBe("");
  });

  it.each([
    [["9400"], '"9400" is no option. Options begin with --, such as --port 8787.'],
    [["--port", "1", "start"], '"start" is no option. Options begin with --, such as --port 8787.'],
    [["--port"], "The option --port needs a value."],
    [["--port="], "The option --port needs a value."],
    [["--port", "--host", "x"], "The option --port needs a value."],
    [["--var"], "The option --var needs a value, such as NAME:VALUE."],
    [
      ["--var", "ADMIN_KEY=secret"],
      "--var ADMIN_KEY=… sets no variable: write --var ADMIN_KEY:VALUE, with a colon.",
    ],
    [["--var=ADMIN_KEY"], "--var ADMIN_KEY sets no variable: write --var ADMIN_KEY:VALUE, with a colon."],
    [["--var", "A:b", "B=c:d"], "--var B=… sets no variable: write --var B:VALUE, with a colon."],
  ])("%j are refused in a sentence", (args, sentence) => {
    expect(argumentProblem("npm start", args, {})).toBe(sentence);
  });

  it.each([
    [["--prot", "1"], "--prot"],
    [["--prot=1"], "--prot"],
    [["--port", "1", "--dta", "x"], "--dta"],
    [["--port=1", "--verbose"], "--verbose"],
    [["-p", "1"], "--p"],
    [["--var", "ADMIN_KEY:secret"], "--var on Deno: write NAME=VALUE npm run start:deno"],
  ])("%j on Deno are refused by the name of the unknown one", (args, option) => {
    const script = join(root, "scripts", "start-deno.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
    expect([status, stderr.split("\n")[0]]).toEqual([2, `There is no option ${option}.`]);
  });

  it.each([
    [["9400"], { npm_config_port: "true" }, "--port"],
    [[], { npm_config_port: "9400" }, "--port"],
    [["DIR"], { npm_config_persist_to: "true" }, "--persist-to"],
  ])("%j after npm took %j need a -- before them", (args, env, option) => {
    expect(argumentProblem("npm start", args, env)).toBe(
      `npm kept ${option} for itself. Write "--" before the options: npm start -- ${option} …`,
    );
  });
});
