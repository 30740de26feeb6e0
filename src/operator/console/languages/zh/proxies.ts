import type { PageTexts } from "../page-texts.ts";

export const proxies: PageTexts["proxies"] = {
  proxyNoun: "代理",
  credentials: "凭据",
  withPassword: "，有密码",
  traffic: "流量",
  proxies: "代理",
  lead: "账号可以通过代理访问提供商。请在“账号”页面选择代理。",
  noProxies: "没有代理",
  noProxiesHint: "所有账号都直接访问提供商。",
  deletionWarning: "绑定到它的账号今后将直接访问提供商。",
  healthy: "正常",
  skippedWith: (reason, value) => `${reason}
因此跳过：${value}`,
  coolsDown: (duration) => `冷却中，${duration}`,
  proxyAdded: "代理已添加",
  proxySaved: "代理已保存",
  addProxy: "添加代理",
  changeProxy: "更改代理",
  type: "类型",
  host: "主机",
  port: "端口",
  noUserName: "无用户名",
  userName: "用户名",
  passwordHint: "留空：保留当前密码。",
  notTested: "未测试",
  testing: "正在测试",
};
