/** Small pages of our own making, each with the signs of a few technologies. */
export const pages: Readonly<Record<string, string>> = {
  blog: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A blog</title>
    <meta name="generator" content="WordPress 6.4.2"><meta name="Generator" content="WooCommerce 8.1.0">
    <link rel="stylesheet" href="/wp-content/themes/twentytwenty/style.css?ver=2.1">
    <link rel="stylesheet" href="/wp-content/plugins/contact-form-7/includes/css/styles.css?ver=5.8">
    <script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1"></script>
    <script src="https://www.googletagmanager.com/gtag/js?id=G-ABC"></script>
    <script>window.dataLayer = window.dataLayer || []; gtag('config', 'G-ABC');</script>
    <style>.wp-block-image { --bs-primary: red }</style></head>
    <body class="home blog"><p>Proudly powered by WordPress</p></body></html>`,
  application: `<html data-reactroot><head><base href="https://cdn.example.com/app/">
    <script id="__NEXT_DATA__" type="application/json">{"props":{}}</script>
    <script src="_next/static/chunks/main-1.js"></script><script src="https://js.stripe.com/v3/"></script>
    <link href="https://fonts.googleapis.com/css?family=Roboto" rel="stylesheet">
    <link rel="preconnect" href="https://browser.sentry-cdn.com"></head>
    <body><div id="__next"></div><script>!function(){Sentry.init({dsn:"https://a@sentry.io/1"})}();</script></body></html>`,
  shop: `<html><head><meta property="og:site_name" content="Shop"><link rel="preconnect" href="https://cdn.shopify.com">
    <script src="//cdn.shopify.com/s/files/1/theme.js"></script><script>Shopify.theme = {"name":"Dawn","id":1};</script></head>
    <body><a href="https://www.klarna.com">Pay later</a><img src="https://cdn.shopify.com/x.png"> DHL and UPS</body></html>`,
  old: `<HTML><HEAD><META NAME="GENERATOR" CONTENT="Microsoft FrontPage 4.0"><LINK REL=STYLESHEET HREF=/x.css></HEAD>
    <BODY><FORM ACTION="/default.aspx"><INPUT TYPE="hidden" NAME="__VIEWSTATE" VALUE="x"></FORM><SCRIPT SRC="/jquery-1.4.2.min.js"></SCRIPT></BODY></HTML>`,
  unicode: `<html ⚡ lang="de"><head><title>Größe – 例え</title><script src="/ünïcode/jquery-3.1.0.js"></script></head>
    <body>Österreichische Post ſ K İ <a class="footer" href="https://www.drupal.org">Drupal</a></body></html>`,
  empty: "",
  nothing: "<html><body>Hello</body></html>",
};
