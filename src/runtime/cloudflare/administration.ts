import type { AdministrationState } from "../../core/ports/administration.ts";
import type { Env } from "./env.ts";

/** The state that administrators' requests share, behind the binding `ADMINISTRATION`. */
export function createAdministrationState(env: Env): AdministrationState {
  const client = (address: string) => env.ADMINISTRATION.getByName(`login ${address}`);
  const token = (id: string) => env.ADMINISTRATION.getByName(`token ${id}`);
  const tests = () => env.ADMINISTRATION.getByName("account tests");
  const modelSync = () => env.ADMINISTRATION.getByName("provider models");
  return {
    recordLoginAttempt: (address, free) => client(address).attempt(free),
    recordLoginSuccess: (address) => client(address).succeeded(),
    getTestProgress: () => tests().progress(),
    setTestProgress: (progress) => tests().setProgress(progress),
    cancelTest: () => tests().cancel(),
    getModelSyncResults: () => modelSync().asks(),
    setModelSyncResults: (results) => modelSync().setAsks(results),
    revokeToken: (id, until) => token(id).revokeToken(until),
    isTokenRevoked: (id) => token(id).isTokenRevoked(),
  };
}
