// The gateway on Deno without the internal function that takes connections over, as from Deno 2.9.6 on.
Reflect.deleteProperty(Deno[Deno.internal], "upgradeHttpRaw");

const { default: program } = await import("../../src/deno.ts");

export default program;
