// The gateway on Deno, with two paths that cause uncaught errors.
const { default: program } = await import("../../src/deno.ts");

const failure = () => {
  throw new Error("of nobody");
};
const FAILURES = {
  "/rejection": () => void Promise.resolve().then(failure),
  "/error": () => setTimeout(failure),
};

export default {
  ...program,
  fetch: (request, info) => {
    const fail = FAILURES[new URL(request.url).pathname];
    if (fail === undefined) return program.fetch(request, info);
    fail();
    return new Response("failed");
  },
};
