import { formatCount } from "../../ui/count.ts";
import type { PageTexts } from "../page-texts.ts";

export const captures: PageTexts["captures"] = {
  exchange: "交互",
  answer: "回答",
  bytes: "字节",
  took: "耗时",
  keepAsSample: (label) => `将 ${label} 保留为样本`,
  keep: "保留",
  bodiesCut: "；正文已截断",
  historyLink: "历史中的请求",
  parts: "交互的各部分",
  http: (status, responseHeaders, responseBody) => `HTTP ${status}
${responseHeaders}

${responseBody}`,
  capturingStopped: "捕获已停止",
  capturing: "正在捕获",
  stopCapturing: "停止捕获",
  startCapturing: "开始捕获",
  lead: "与提供商的交互，机密信息已遮盖。将捕获保留为样本，以便之后重放。",
  exchanges: "交互",
  capturesCleared: "捕获已清空",
  clear: "清空",
  nothingCapturedYet: "还没有捕获",
  capturingOff: "捕获已关闭",
  newestAreListed: (limit) => `最新的 ${limit} 次交互会显示在这里。`,
  capturingOffHint: "捕获会占用时间和存储，请用于调试问题。",
  keptAsSample: "已保留为样本",
  sampleTaken: "样本已采集",
  sampleDeleted: "样本已删除",
  sample: "样本",
  kept: "保留时间",
  rounds: "轮次",
  roundCount: (count) => `${formatCount(count)} 轮`,
  download: (id) => `下载 ${id}`,
  downloadTitle: "下载",
  delete: (id) => `删除 ${id}`,
  samples: "样本",
  sampleMessage: "你好！你是谁？",
  takeSample: "发送并保留原始回答",
  noSamples: "没有样本。",
};
