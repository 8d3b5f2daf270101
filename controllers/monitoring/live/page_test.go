//go:build ui

package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/monitoring/page"
)

// mayBeBlank are panels that show no data in the network of the test, and why.
var mayBeBlank = map[string]string{
	"Failed requests by operation":     "no request fails",
	"Waits for a row":                  "no transaction waits, so that the quantile is not a number",
	"Tables not pinned":                "only CockroachDB has a placement",
	"Time until the keys expire":       "the keys of the test do not expire",
	"Age of webhook deliveries":        "the network of the test has no webhook",
	"Webhook deliveries":               "the network of the test has no webhook",
	"Alerts":                           "no alert fires; the stat of the same title has its own number",
	"Public hosts":                     "nothing probes the hosts of the test",
	"Failed reconciles":                "the operator of the test does not reconcile",
	"Retries by SQLSTATE":              "no transaction is retried",
	"p99 of realtime events":           "an event may not have been delivered within the last seconds",
	"Rejected requests by status":      "the rate may still be unknown",
	"Time until the next key rotation": "keys are not rotated",
}

// browser is a tab, with what it requested and what went wrong in it.
type browser struct {
	context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

// hear records an event. It must not block, because the browser waits for it.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// openBrowser starts a headless browser that connects only to the pages it opens.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	require.NotEmpty(t, program, "no browser found: run hack/ensure-chromium.sh")
	ctx, cancel := chromedp.NewExecAllocator(t.Context(),
		chromedp.Headless, chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1600, 1000), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
	)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	require.NoError(t, chromedp.Listen(ctx, b.hear))
	return b
}

// text evaluates an expression in the page.
func (b *browser) text(t *testing.T, expression string) string {
	t.Helper()
	text, err := chromedp.Run(b, chromedp.Evaluate[string](expression))
	require.NoError(t, err, expression)
	return text
}

// awaitText waits until an expression in the page has a value.
func (b *browser) awaitText(t *testing.T, want, expression string) {
	t.Helper()
	got := ""
	require.Eventually(t, func() bool { got = b.text(t, expression); return got == want }, patience, time.Second, "%s is %v", expression, &got)
}

// TestPage opens the page in a browser: every panel of the dashboards has data, a variable selects, a fault's alert appears, and a rollout
// is marked on the graphs.
func TestPage(t *testing.T) {
	n := startNetwork(t)
	p := startPrometheus(t, monitoring.RuleFaster(n.rendered(), factor).Spec, n.targets, n.hosts.scraped(n.rendered()))
	boards := []string{monitoring.SharedDashboards()["plaza-fleet.json"]}
	for _, text := range monitoring.Dashboard(n.rendered()).Data {
		boards = append([]string{text}, boards...)
	}
	handler, err := page.Handler(page.Options{Prometheus: p.URL(), Dashboards: boards, ScrapeInterval: time.Second, Range: 5 * time.Minute})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	b := openBrowser(t)
	require.NoError(t, chromedp.Do(b, chromedp.Navigate(server.URL)))
	b.awaitPanels(t, boards[0])
	b.awaitText(t, "yes", panelOf(t, boards[0], "Ready")+`.querySelector(".stat")?.textContent ?? ""`)
	const legend = `.querySelectorAll(".legend td:first-child")].map((e) => e.textContent).sort().join(" ")`
	b.awaitText(t, "eu sg us", "[..."+panelOf(t, boards[0], "Requests by region")+legend)

	_ = b.text(t,
		`(() => { const s = document.querySelector("[data-variable=region]"); s.value = "eu"; s.dispatchEvent(new Event("change")); return ""; })()`)
	b.awaitText(t, "eu", "[..."+panelOf(t, boards[0], "Requests by region")+legend)

	n.damageKeys(t)
	b.awaitText(t, "fires", `(document.querySelector('[data-alert="PlazaKeysFileUnreadable"].firing') ? "fires" : "")`)
	n.repairKeys(t)
	require.Equal(t, "0", b.text(t, `String(document.querySelectorAll(".annotation").length)`))
	n.report(func(s *v1alpha1.SocialNetworkStatus) {
		s.Regions[1].Conditions = conditions(metav1.ConditionFalse, v1alpha1.RegionUpdated)
	})
	b.awaitText(t, "Rollout of eu", panelOf(t, boards[0], "Requests by region")+`.querySelector(".annotation title")?.textContent ?? ""`)

	_ = b.text(t, `(() => { location.hash = "plaza-fleet"; return ""; })()`)
	b.awaitText(t, "Plaza / Fleet", "document.title")
	b.awaitPanels(t, boards[1])
	picture(t, b)
	b.requireClean(t, server.URL)
}

type boardPanel struct {
	ID          int
	Type, Title string
}

func panelsOf(t *testing.T, board string) []boardPanel {
	t.Helper()
	var decoded struct{ Panels []boardPanel }
	require.NoError(t, json.Unmarshal([]byte(board), &decoded))
	return decoded.Panels
}

// panelOf returns the expression of a panel's element.
func panelOf(t *testing.T, board, title string) string {
	t.Helper()
	for _, panel := range panelsOf(t, board) {
		if panel.Title == title {
			return fmt.Sprintf("document.querySelector('[data-panel=\"%d\"]')", panel.ID)
		}
	}
	require.Fail(t, "no such panel", title)
	return ""
}

// awaitPanels waits until every panel shows its data, or may be blank, and has drawn at least one series.
func (b *browser) awaitPanels(t *testing.T, board string) {
	t.Helper()
	var wrong []string
	require.Eventually(t, func() bool {
		wrong = nil
		for _, panel := range panelsOf(t, board) {
			if panel.Type == "row" {
				continue
			}
			is := b.text(t, fmt.Sprintf(`(() => {
				const e = document.querySelector('[data-panel="%d"]');
				if (!e) return "absent";
				return e.dataset.state + (e.dataset.state === "data" && !e.querySelector(".series, .stat") ? " not drawn" : "") +
					(e.dataset.state === "failed" ? " " + e.textContent : "");
			})()`, panel.ID))
			if is != "data" && (is != "empty" || mayBeBlank[panel.Title] == "") {
				wrong = append(wrong, panel.Title+": "+is)
			}
		}
		return len(wrong) == 0
	}, patience, time.Second, "%v", &wrong)
}

// requireClean checks that nothing went wrong in the page, and that it requested nothing of other hosts.
func (b *browser) requireClean(t *testing.T, base string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.errors)
	require.NotEmpty(t, b.requests)
	for _, url := range b.requests {
		require.True(t, strings.HasPrefix(url, base+"/"), "the page requests another host: %s", url)
	}
}

// picture writes a screenshot to the file named by PLAZA_SCREENSHOT, if set.
func picture(t *testing.T, b *browser) {
	t.Helper()
	path := os.Getenv("PLAZA_SCREENSHOT")
	if path == "" {
		return
	}
	png, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, png, 0o600))
}
