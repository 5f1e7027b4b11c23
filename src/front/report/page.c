/* Parts that all HTML pages share: the head, with the style. */
#include "report/html.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#1b1f24;max-width:960px;margin:32px auto;padding:0 16px}"
    "h1{font-size:24px;margin:0}h2{font-size:17px;margin:28px 0 8px}p{margin:6px 0}"
    ".sub{color:#57606a}.verdict{font-size:18px;padding:12px "
    "16px;border-radius:8px;background:#e8f5ec;margin:16px 0}"
    ".none{background:#f3f4f6}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{padding:4px 10px;text-align:right;border-bottom:1px solid "
    "#e5e7eb}th{font-weight:600;color:#57606a}"
    "th:first-child,td:first-child{text-align:left;font-family:ui-monospace,monospace;font-size:13px}"
    "tr.best{background:#e8f5ec;font-weight:600}tr.base{background:#fff7e6}svg{display:block;margin:8px 0}"
    "text{font:11px system-ui,sans-serif;fill:#57606a}code{font-size:13px}";

void html_begin_with(hd_buf *out, const char *title, const char *more) {
  hd_buf_puts(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  hd_buf_html(out, title);
  hd_buf_puts(out, "</title>");
  if (more[0])
    hd_buf_puts(out,
                "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">");
  hd_buf_puts(out, "<style>");
  hd_buf_puts(out, style);
  hd_buf_puts(out, more);
  hd_buf_puts(out, "</style></head><body>");
}

void html_begin(hd_buf *out, const char *title) { html_begin_with(out, title, ""); }

void html_end(hd_buf *out) { hd_buf_puts(out, "</body></html>\n"); }
