import { translate } from "../../language.ts";

export const texts = translate("proxies", {
  proxyNoun: "proxy",
  credentials: "Credentials",
  withPassword: ", with password",
  traffic: "Traffic",
  proxies: "Proxies",
  lead: "Accounts can reach their provider through a proxy. Choose the proxy on the Accounts page.",
  noProxies: "No proxies",
  noProxiesHint: "All accounts reach their provider directly.",
  deletionWarning: "Accounts that are bound to it reach the provider directly from now on.",
  healthy: "Healthy",
  skippedWith: (reason: string, value: string) => `${reason}
Passed over with it: ${value}`,
  coolsDown: (duration: string) => `cooldown, ${duration}`,
  proxyAdded: "Proxy added",
  proxySaved: "Proxy saved",
  addProxy: "Add proxy",
  changeProxy: "Change proxy",
  type: "Type",
  host: "Host",
  port: "Port",
  userName: "User name",
  noUserName: "no user name",
  passwordHint: "Empty: keep the current password.",
  notTested: "not tested",
  testing: "testing",
});
