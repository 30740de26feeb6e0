import { translate } from "../../language.ts";

export const texts = translate("connect", {
  connect: "Connect",
  lead: "Addresses and snippets for SDKs, agents and curl.",
});
