import { translate } from "../language.ts";

/** Errors of requests. */
export const texts = translate("api", {
  uneditableNameHint: "Entries named “.” or “..” cannot be edited here. Import the configuration instead.",
  gatewayUnreachableHint: "The gateway cannot be reached. Check the connection and try again.",
  gatewayAnsweredWithStatus: (status: number) => `The gateway answered with status ${status}`,
  unexpectedAnswer: (path: string) => `${path}: unexpected answer`,
  gatewayCannotBeReached: "The gateway cannot be reached.",
});
