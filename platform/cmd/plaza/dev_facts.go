package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

const (
	devFileName   = "dev.json"
	devAdminName  = "dev"
	devAdminValid = 30 * 24 * time.Hour
)

// devFacts is the content of dev.json: what a program needs to use the network.
type devFacts struct {
	NetworkID   string                    `json:"networkId"`
	ServerKey   string                    `json:"serverKey"`
	APIKey      string                    `json:"apiKey"`
	MediaKey    string                    `json:"mediaKey"`
	AdminToken  string                    `json:"adminToken"`
	DatabaseURL string                    `json:"databaseUrl"`
	Regions     map[region.Code]devRegion `json:"regions"`

	shownDatabase string // DatabaseURL for humans
}

// devRegion has the URLs of one region.
type devRegion struct {
	BaseURL string `json:"baseUrl"`
	OpsURL  string `json:"opsUrl"`
}

func (d *devNetwork) facts(db *devdb.DB) (devFacts, error) {
	f := devFacts{
		NetworkID: d.keys.networkID, ServerKey: d.keys.serverKey, APIKey: d.keys.apiKey,
		DatabaseURL: db.URL(), Regions: map[region.Code]devRegion{},
	}
	f.shownDatabase = f.DatabaseURL
	if db.Engine() == devdb.External { // its password is not one of this command
		f.shownDatabase = dburl.MustParse(f.DatabaseURL).String()
	}
	for _, server := range d.servers {
		f.Regions[server.Code()] = devRegion{BaseURL: "http://" + server.APIAddr(), OpsURL: "http://" + server.OpsAddr()}
	}
	cfg := d.regionConfig(region.US, db)
	f.MediaKey = cfg.MediaKey.Reveal()
	var err error
	f.AdminToken, _, err = mintAdmin(cfg, devAdminName, devAdminValid)
	return f, err
}

func (f devFacts) write(dir string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, devFileName), string(text)+"\n")
}

func removeDevFile(dir string) error {
	err := os.Remove(filepath.Join(dir, devFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// secureMode reports whether every sign-in needs an authToken.
func (f devFacts) secureMode(ctx context.Context) (bool, error) {
	admin := demoClient{
		http: &http.Client{Timeout: devReadyTimeout}, url: f.Regions[region.EU].BaseURL,
		header: http.Header{"Authorization": {"Bearer " + f.AdminToken}},
	}
	settings, err := speak(admin, plazav1connect.NewNetworkSettingServiceClient).GetNetworkSettings(ctx, &plazav1.GetNetworkSettingsRequest{})
	return settings.GetIsSecureModeEnabled(), err
}

// print prints the facts for humans. It ends with a line for which programs can wait.
func (f devFacts) print(out io.Writer, d *devNetwork, secure bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Network %s, data in %s\n\n", f.NetworkID, d.dataPlace())
	table := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "  region\tAPI\toperations")
	for _, home := range region.All() {
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", home, f.Regions[home].BaseURL, f.Regions[home].OpsURL)
	}
	_ = table.Flush() // strings.Builder never fails
	fmt.Fprintf(&b, "\n  server key   %s\n  API key      %s\n  media key    %s\n  admin token  %s\n  database     %s\n",
		f.ServerKey, f.APIKey, f.MediaKey, f.AdminToken, f.shownDatabase)
	if secure {
		fmt.Fprint(&b, "\nSecure mode is on: a sign-in needs an authToken, which /api/v4/authentication/token returns for the server key.\n")
	} else {
		fmt.Fprintf(&b, "\nSecure mode is off: with the API key anyone can sign in as any user without a network role. To turn it on:\n\n%s\n",
			f.secureModeRequest())
	}
	fmt.Fprintf(&b, "\nThis information is in %s. To sign in as alice, with home region eu:\n\n%s\n\nplaza: ready\n",
		filepath.Join(d.opts.dataDir, devFileName), f.firstRequest())
	_, err := io.WriteString(out, b.String())
	return err
}

func (d *devNetwork) dataPlace() string {
	if d.opts.ephemeral {
		return "a temporary directory that is removed at exit"
	}
	return d.dir
}

func (f devFacts) secureModeRequest() string {
	return fmt.Sprintf(`  curl -s -X PUT %s/api/v3/network-settings -H 'Authorization: Bearer %s' -d '{"isSecureModeEnabled": true}'`,
		f.Regions[region.EU].BaseURL, f.AdminToken)
}

func (f devFacts) firstRequest() string {
	return fmt.Sprintf(`  curl -s %s/api/v5/sessions -H 'X-API-Key: %s' -H 'Content-Type: application/json' \
    -d '{"userId": "alice", "deviceId": "laptop", "displayName": "Alice"}'`, f.Regions[region.EU].BaseURL, f.APIKey)
}
