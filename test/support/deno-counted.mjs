// Serves the program as `deno serve` does. Only `deno run` can count which lines run.
import program from "../../src/deno.ts";

Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: program.onListen }, program.fetch);
