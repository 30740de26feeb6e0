import type { AdministrationState } from "../administration.ts";
import type { Env } from "./env.ts";

/** The state that administrators' requests share, behind the binding `ADMINISTRATION`. */
export function cloudflareAdministration(env: Env): AdministrationState {
  const client = (address: string) => env.ADMINISTRATION.getByName(`login ${address}`);
  const tests = () => env.ADMINISTRATION.getByName("account tests");
  const schedule = () => env.ADMINISTRATION.getByName("provider models");
  return {
    loginAttempt: (address, free) => client(address).attempt(free),
    loginSucceeded: (address) => client(address).succeeded(),
    testProgress: () => tests().progress(),
    setTestProgress: (progress) => tests().setProgress(progress),
    cancelTest: () => tests().cancel(),
    modelAsks: () => schedule().asks(),
    setModelAsks: (asks) => schedule().setAsks(asks),
  };
}
