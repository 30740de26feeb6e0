import { formatCount } from "../../ui/count.ts";
import type { PageTexts } from "../page-texts.ts";

export const settings: PageTexts["settings"] = {
  settings: "设置",
  lead: "更改会在两秒内全面生效。",
  searchSettings: "搜索设置",
  noSettingMatches: "没有匹配的设置。",
  headings: {
    Load: "负载",
    Requests: "请求",
    Storage: "存储",
    Callers: "调用方",
    Administration: "管理",
  },
  fields: {
    "runtime.account_max_inflight": {
      title: "每个账号的并发请求",
      description: "单个账号同时处理的最大请求数。",
    },
    "runtime.global_max_inflight": {
      title: "并发请求总数",
      description: "所有账号同时处理的最大请求数。0：账号数 × 每个账号的请求数。",
    },
    "runtime.account_max_queue": {
      title: "队列长度",
      description: "最大等待请求数。超出的请求返回 429。0：账号数 × 每个账号的请求数。",
    },
    "runtime.account_failovers": {
      title: "故障转移次数",
      description: "提供商在开始回答之前失败时，网关尝试的其他账号数。",
    },
    "runtime.token_refresh_interval_hours": {
      title: "令牌刷新间隔（小时）",
      description: "账号令牌的最长有效时间。0：仅在提供商拒绝令牌时重新登录。",
    },
    "thinking_injection.enabled": {
      title: "思考提示注入",
      description: "开启思考时，在最后一条用户消息后附加一段文本。",
    },
    "thinking_injection.prompt": {
      title: "思考提示",
      description: "附加的文本。留空：使用内置文本。",
    },
    "current_input_file.enabled": {
      title: "长提示作为文件",
      description: "将长提示作为文件上传，而不是作为文本发送。",
    },
    "current_input_file.min_chars": {
      title: "长提示阈值（字符）",
      description: "达到此长度的提示会被上传。",
    },
    "auto_delete.mode": {
      title: "删除聊天会话",
      description: "回答完成后，网关在提供商处删除的内容。",
      choices: { none: "不删除", single: "该请求的会话", all: "该账号的所有会话" },
    },
    "embeddings.provider": {
      title: "嵌入",
      description: "由谁回答嵌入请求。测试向量不用模型，只根据词语计算：足以试用客户端，不适合真正的搜索。",
      choices: {
        "": "无：请求得到 501",
        builtin: "测试向量；用 provider/model 可调用提供商的嵌入模型",
        upstream: "提供商的嵌入模型",
        deterministic: "测试向量（相同，旧名称“deterministic”）",
        mock: "测试向量（相同，旧名称“mock”）",
      },
    },
    "unknown_models.provider": {
      title: "未知模型名称的提供商",
      description: "接收未知模型请求的提供商 ID。留空：拒绝。",
    },
    "cache.ttl_seconds": {
      title: "响应缓存（秒）",
      description: "重复使用同一回答的时长，除非密钥、模型或提供商另有规定。0：不缓存。",
    },
    "responses.store_ttl_seconds": {
      title: "已存储的响应（秒）",
      description: "已存储的响应（responses 风格）的保留时长。",
    },
    "log.sample": {
      title: "日志采样",
      description: "写入日志的成功请求比例。1：全部。错误始终写入日志。",
    },
    "history.limit": {
      title: "历史",
      description: "最多存储的生成记录数。0：关闭历史。",
    },
    "captures.enabled": {
      title: "捕获提供商流量",
      description: "存储发给提供商的请求及其回答，用于调试。机密信息会被遮盖。",
    },
    "captures.limit": {
      title: "捕获",
      description: "最多存储的捕获数。",
    },
    "captures.max_body_bytes": {
      title: "捕获正文上限（字节）",
      description: "更长的正文会被截断。",
    },
    "callers.unknown_keys": {
      title: "未知 API 密钥",
      description: "转发：将密钥作为令牌发送给提供商。自动：转发，但网关没有该提供商的凭据时拒绝。",
      choices: { auto: "自动", pass_through: "转发给提供商", refuse: "拒绝" },
    },
    "callers.keys_hashed": {
      title: "仅存储密钥摘要",
      description: "密钥在此处和导出中都无法再读取，已保存的配置会被删除。对现有密钥无法撤销。",
    },
    "admin.jwt_expire_hours": {
      title: "会话时长（小时）",
      description: "登录此控制台的有效时长。",
    },
  },
  default: (value) => `默认：${value}。`,
  on: "开",
  off: "关",
  mustBeNumber: (isWhole, from, to) => {
    const kind = isWhole ? "整数" : "数字";
    if (from !== "" && to !== "") return `必须是 ${from} 到 ${to} 之间的${kind}。`;
    if (from !== "") return `必须是不小于 ${from} 的${kind}。`;
    return to === "" ? `必须是${kind}。` : `必须是不大于 ${to} 的${kind}。`;
  },
  unsavedChangeCount: (count) => `${formatCount(count)} 项未保存的更改`,
  settingsSaved: "设置已保存",
  passwordsDiffer: "两次输入的密码不同。",
  passwordChanged: "密码已更改",
  unsavedPassword: "尚未更改的密码",
  sharedPassword: "无用户名登录的密码",
  sharedPasswordUse: "与管理密钥作用相同。有用户名的管理员，其密码在“管理员”页面设置。",
  passwordIsSet: "已设置密码。",
  passwordIsNotSet: "未设置密码，只有部署的管理密钥。",
  passwordEndsSessions: "更改密码会退出所有会话，包括当前会话。",
  newPassword: "新密码",
  repeatPassword: "重复密码",
  changePassword: "更改密码",
  telemetry: "OpenTelemetry",
  telemetryOff: "未发送跟踪和指标。变量 OTEL_EXPORTER_OTLP_ENDPOINT 指定收集器。",
  telemetryOn: (protocol) => `跟踪和指标通过 ${protocol} 发送。这些数字来自作出回答的隔离环境或进程。`,
  traces: "跟踪",
  metrics: "指标",
  collector: "收集器",
  sent: "已发送",
  dropped: "已丢弃",
  lastDelivery: "上次传送",
  delivering: "无错误",
  notSent: "未发送",
};
