import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder, root } from "../../scripts/development.mjs";

/**
 * Runs a script of `test/fixtures/deno` on Deno and returns what it prints. Rejects if it fails.
 *
 * @param env environment variables besides those of this process
 */
export async function runDenoScript(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const script = join(root, "test", "fixtures", "deno", name);
  const { stdout } = await promisify(execFile)(
    join(root, "node_modules", ".bin", "deno"),
    ["run", "-A", "--no-check", script, ...args],
    {
      cwd: root,
      env: {
        ...process.env,
        DENO_NO_UPDATE_CHECK: "1",
        DENO_DIR: join(cacheFolder, "deno"),
        ...env,
      },
    },
  );
  return stdout;
}
