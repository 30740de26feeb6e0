/**
 * Runs in the folder where a framework is installed: `node child.mjs <program> <base> <key>`. Prints one result per line as
 * JSON.
 */
import { play } from "./scenario.mjs";

const [, , file, base, key] = process.argv;
const { programs } = await import(file);
let escaped;
process.on("unhandledRejection", (reason) => {
  escaped ??= reason;
});
for (const program of await programs({ base, key })) {
  await play(program, (result) => {
    const error = result.error ?? (escaped === undefined ? null : `an error that nobody caught: ${escaped}`);
    escaped = undefined;
    process.stdout.write(`\n@result ${JSON.stringify({ ...result, error })}\n`);
  });
}
process.exit(0);
