//go:build ui

package apidoc_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apidoc"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// patience limits the test, which takes a few seconds on an idle machine.
const patience = apptest.Patience

// browser records the requests and errors of a tab.
type browser struct {
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

// chromium returns the path of the browser. Without one the test fails; hack/ensure-chromium.sh installs it.
func chromium(t *testing.T) string {
	t.Helper()
	names := []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	}
	if named := os.Getenv("CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.FailNow(t, "no browser found: run hack/ensure-chromium.sh")
	return ""
}

// open starts a headless browser that connects only to the pages it opens.
func open(t *testing.T) (context.Context, *browser) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		chromedp.Headless, chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1500), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
	)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	require.NoError(t, chromedp.Listen(ctx, b.hear))
	return ctx, b
}

// TestPageInABrowser opens the page, signs in, finds an operation and tries it.
func TestPageInABrowser(t *testing.T) {
	n := apptest.Shared(t)
	alice := n.NewUser(t, region.EU, "alice")
	base := n.BaseURL(region.EU)
	ctx, b := open(t)

	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate(base+apidoc.PagePath),
		chromedp.WaitVisible(chromedp.CSS("#operations-tag-User")),
	))
	sections, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll(".opblock-tag-section").length`))
	require.NoError(t, err)
	require.GreaterOrEqual(t, sections, 20, "sections of operations")
	rows, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll("#operations-tag-Channel table tr").length`))
	require.NoError(t, err)
	require.Equal(t, 5, rows, "the types of channels are a table")
	require.NoError(t, chromedp.Do(ctx, signIn(alice.Token)))
	tried(t, ctx, alice, base)
	picture(t, ctx)

	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.errors)
	require.NotEmpty(t, b.requests)
	for _, url := range b.requests {
		inline := strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "blob:")
		require.True(t, inline || strings.HasPrefix(url, base+"/"), "the page requests another host: %s", url)
	}
}

// signIn enters a token.
func signIn(token string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		chromedp.Click(chromedp.CSS(".auth-wrapper .authorize")),
		chromedp.WaitVisible(chromedp.CSS("#auth-bearer-value")),
		chromedp.SendKeys(chromedp.CSS("#auth-bearer-value"), token),
		chromedp.Click(chromedp.CSS("form:has(#auth-bearer-value) button.authorize")),
		chromedp.WaitNotPresent(chromedp.CSS("#auth-bearer-value")),
		chromedp.Click(chromedp.CSS(".modal-ux .close-modal")),
	)
}

// tried calls GET /api/v3/users/{userId} from the page and checks the displayed response.
func tried(t *testing.T, ctx context.Context, caller *apptest.Client, base string) {
	t.Helper()
	const operation = "#operations-User-getUser "
	const userID = chromedp.CSS(operation + `tr[data-param-name="userId"] input`)
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS("#operations-tag-User")),
		chromedp.Click(chromedp.CSS(operation+".opblock-summary-control")),
		chromedp.WaitVisible(userID),
		chromedp.Clear(userID),
		chromedp.SendKeys(userID, caller.UserID),
		chromedp.Click(chromedp.CSS(operation+".execute")),
	))
	const answer = operation + ".live-responses-table .response "
	for selector, want := range map[string]string{
		operation + ".request-url":           base + "/api/v3/users/" + caller.UserID,
		answer + ".response-col_status":      "200",
		answer + ".response-col_description": caller.InternalID,
	} {
		text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector), chromedp.NodeVisible))
		require.NoError(t, err, selector)
		require.Contains(t, text, want, selector)
	}
}

// picture writes a screenshot to the file named by PLAZA_SCREENSHOT, if set.
func picture(t *testing.T, ctx context.Context) {
	t.Helper()
	path := os.Getenv("PLAZA_SCREENSHOT")
	if path == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, png, 0o600))
}
