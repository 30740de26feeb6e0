import { translate } from "../../language.ts";

export const texts = translate("connect", {
  apiKey: "API key",
  snippetKeyHint: "Only used for the snippets below. It stays in this page.",
  waysToConnect: "Ways to connect",
  baseAddresses: "Base addresses",
  agents: "Agents",
  baseAddress: "Base address",
  copy: "Copy",
  copyKey: "Copy the key",
  copyStyle: (style: string) => `Copy: ${style}`,
  client: "Client",
  connect: "Connect",
  lead: "Addresses and snippets for SDKs, agents and curl.",
});
