/** npm versions of the frameworks, and of the reference engine with its driver. */
export const VERSIONS = {
  "@hotwired/stimulus": "3.2.2",
  "@hotwired/turbo": "8.0.23",
  alpinejs: "3.17.5",
  angular: "1.8.3",
  axios: "1.21.1",
  backbone: "1.6.1",
  bootstrap: "5.3.9",
  bulma: "0.9.4",
  "chart.js": "4.6.1",
  d3: "7.9.2",
  "font-awesome": "4.7.0",
  gsap: "3.15.0",
  "htmx.org": "2.0.11",
  jquery: "3.8.0",
  knockout: "3.5.3",
  leaflet: "1.9.4",
  lodash: "4.18.1",
  mithril: "2.3.8",
  moment: "2.31.0",
  preact: "10.29.8",
  react: "18.3.1",
  "react-dom": "18.3.1",
  swiper: "11.2.10",
  uikit: "3.25.29",
  underscore: "1.13.8",
  vue: "3.5.45",
  wappalyzer: "6.10.66",
};

const script = (file, attributes = "") => `<script src="/npm/${file}"${attributes}></script>`;
const style = (file) => `<link rel="stylesheet" href="/npm/${file}">`;
const run = (code) => `<script>${code}</script>`;

const REACT =
  script("react/umd/react.production.min.js") + script("react-dom/umd/react-dom.production.min.js");
const JQUERY = script("jquery/dist/jquery.min.js");

/** Pages that use frameworks, by name: their head, body and headers, and known errors of the driver. */
export const PAGES = {
  react: {
    body: `<div id="root"></div>${REACT}${run('ReactDOM.createRoot(root).render(React.createElement("h1", null, "Hello"))')}`,
  },
  "next-export": {
    head: '<meta name="next-head-count" content="2"><link rel="preload" href="/_next/static/chunks/main-0a1b2c.js" as="script">',
    body: `<div id="__next"></div>${REACT}<script id="__NEXT_DATA__" type="application/json">{"props":{},"page":"/","buildId":"export"}</script>${run('window.next = { version: "14.2.3" }; ReactDOM.createRoot(__next).render("Hello")')}`,
  },
  vue: {
    body: `<div id="app">{{ text }}</div>${script("vue/dist/vue.global.prod.js")}${run('Vue.createApp({ data: () => ({ text: "Hello" }) }).mount("#app")')}`,
  },
  angular: {
    body: `<div ng-app="app" ng-controller="c as c">{{ c.text }}</div>${script("angular/angular.min.js")}${run('angular.module("app", []).controller("c", function () { this.text = "Hello" })')}`,
  },
  jquery: { body: `<p></p>${JQUERY}${run('$("p").text("Hello")')}` },
  bootstrap: {
    head: style("bootstrap/dist/css/bootstrap.min.css"),
    body: `<button class="btn btn-primary" data-bs-toggle="tooltip">Hello</button>${script("bootstrap/dist/js/bootstrap.bundle.min.js")}`,
  },
  "bootstrap-jquery": {
    head: style("bootstrap/dist/css/bootstrap.min.css") + style("font-awesome/css/font-awesome.min.css"),
    body: `<i class="fa fa-home"></i>${JQUERY}${script("bootstrap/dist/js/bootstrap.min.js")}`,
  },
  alpine: {
    body: `<div x-data="{ text: 'Hello' }" x-text="text"></div>${script("alpinejs/dist/cdn.min.js", " defer")}`,
  },
  htmx: { body: `<button hx-get="/react">Hello</button>${script("htmx.org/dist/htmx.min.js")}` },
  preact: {
    body: `<div id="root"></div>${script("preact/dist/preact.umd.js")}${run('preact.render(preact.h("h1", null, "Hello"), root)')}`,
  },
  lodash: { body: script("lodash/lodash.min.js") + script("moment/min/moment.min.js") },
  d3: { body: `<svg></svg>${script("d3/dist/d3.min.js")}${run('d3.select("svg").append("circle")')}` },
  backbone: {
    body: `${JQUERY}${script("underscore/underscore-umd-min.js")}${script("backbone/backbone-min.js")}${run("new Backbone.Model()")}`,
    // Underscore.js and Lodash exclude each other. The driver first finds the version of `_` and reports Lodash with
    // confidence 0.
    disputed: ["Underscore.js", "Lodash"],
  },
  knockout: {
    body: `<p data-bind="text: text"></p>${script("knockout/build/output/knockout-latest.js")}${run('ko.applyBindings({ text: "Hello" })')}`,
  },
  mithril: {
    body: `<div id="root"></div>${script("mithril/mithril.min.js")}${run('m.render(root, m("h1", "Hello"))')}`,
  },
  hotwire: {
    head: script("@hotwired/turbo/dist/turbo.es2017-umd.js"),
    body: `<turbo-frame id="a"></turbo-frame><div data-controller="hello"></div>${script("@hotwired/stimulus/dist/stimulus.umd.js")}${run("Stimulus.Application.start()")}`,
  },
  swiper: {
    head: style("swiper/swiper-bundle.min.css"),
    body: `<div class="swiper"><div class="swiper-wrapper"><div class="swiper-slide">1</div></div></div>${script("swiper/swiper-bundle.min.js")}${run('new Swiper(".swiper")')}`,
  },
  leaflet: {
    head: style("leaflet/dist/leaflet.css"),
    body: `<div id="map" style="height:200px"></div>${script("leaflet/dist/leaflet.js")}${run('L.map("map").setView([0, 0], 1)')}`,
  },
  charts: {
    body: `<canvas id="c"></canvas>${script("chart.js/dist/chart.umd.js")}${script("gsap/dist/gsap.min.js")}${script("axios/dist/axios.min.js")}`,
  },
  uikit: {
    head: style("uikit/dist/css/uikit.min.css"),
    body: `<div class="uk-card" uk-scroll></div>${script("uikit/dist/js/uikit.min.js")}`,
  },
  bulma: { head: style("bulma/css/bulma.min.css"), body: '<button class="button is-primary">Hello</button>' },
  wordpress: {
    head: '<meta name="generator" content="WordPress 6.5.2"><link rel="https://api.w.org/" href="/wp-json/"><link rel="stylesheet" href="/wp-content/themes/twentytwentyfour/style.css?ver=1.1">',
    body: `<div class="wp-block-group"></div>${JQUERY}${run("window.wp = { emoji: {} }")}`,
    headers: {
      server: "nginx/1.25.3",
      "x-powered-by": "PHP/8.2.1",
      link: '</wp-json/>; rel="https://api.w.org/"',
    },
  },
};
