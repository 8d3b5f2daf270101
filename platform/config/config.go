// Package config is the configuration of one region's server: one struct, filled from defaults, a YAML file, PLAZA_*
// variables and flags, each winning over the one before.
//
// Every name derives from the `name` tag of a field: the key of the file is the tag (statement-timeout), the variable is
// PLAZA_ and the tag in capitals (PLAZA_STATEMENT_TIMEOUT), the flag is -- and the tag (--statement-timeout). A field that
// holds a secret can also be given as a file that holds the text: directory-key-file, PLAZA_DIRECTORY_KEY_FILE, …
package config

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// Config is the configuration of one region's server. Durations are written like 3s or 720h, sizes like 1MiB or 1048576.
//
// The tags: name derives every spelling; default is the lowest layer; help is the sentence of the flag and of the table
// in the README; serve marks what `plaza serve` cannot do without.
type Config struct {
	Region    region.Code `name:"region" serve:"required" help:"the region this server serves: us, eu or sg"`
	NetworkID NetworkID   `name:"network-id" serve:"required" help:"the network's id: 24 lowercase hexadecimal characters"`

	Listen    Address `name:"listen" default:":8080" help:"address of the API (REST, Connect, gRPC and gRPC-Web on one port)"`
	OpsListen Address `name:"ops-listen" default:":9080" help:"address of operations: /livez, /readyz, /metrics, /debug/pprof; keep it private"`

	DatabaseURL   telemetry.SecretURL `name:"database-url" serve:"required" help:"PostgreSQL URL of the database; may be left out where a URL of one home is given"`
	DatabaseURLUS telemetry.SecretURL `name:"database-url-us" help:"URL for the rows whose home is us, such as the nodes nearest to them; empty: database-url"`
	DatabaseURLEU telemetry.SecretURL `name:"database-url-eu" help:"the same for eu"`
	DatabaseURLSG telemetry.SecretURL `name:"database-url-sg" help:"the same for sg"`
	PoolSize      PoolSize            `name:"pool-size" default:"8" help:"most connections to the database for each home"`

	LocalityUS    Locality    `name:"locality-us" default:"us-east1" help:"CockroachDB region that keeps the rows of us; used by plaza migrate"`
	LocalityEU    Locality    `name:"locality-eu" default:"europe-west1" help:"CockroachDB region that keeps the rows of eu"`
	LocalitySG    Locality    `name:"locality-sg" default:"asia-southeast1" help:"CockroachDB region that keeps the rows of sg"`
	PrimaryRegion region.Code `name:"primary-region" default:"us" help:"home whose region of the database keeps what belongs to no home, on CockroachDB"`
	Survive       Survive     `name:"survive" default:"zone" help:"what the database survives on CockroachDB: zone or region"`

	ServerKeysFile  string           `name:"server-keys-file" serve:"required" help:"file of the server keys, read again when it changes"`
	APIKeysFile     string           `name:"api-keys-file" serve:"required" help:"file of the API keys, read again when it changes"`
	SigningKeysFile string           `name:"signing-keys-file" serve:"required" help:"file of the keys that sign access tokens, read again when it changes"`
	DirectoryKey    telemetry.Secret `name:"directory-key" serve:"required" help:"secret for the keyed hash of user ids in the user directory; can never change"`

	MediaKey         telemetry.Secret `name:"media-key" help:"secret by which the media server is known when it reports on streams and rooms; empty: nobody may"`
	MediaIngestURL   MediaURL         `name:"media-ingest-url" help:"where streamers send, such as rtmp://ingest.example.com/live; empty: streams name no address"`
	MediaPlaybackURL MediaURL         `name:"media-playback-url" help:"where streams are watched, such as https://play.example.com/live; empty: streams name no address"`

	AccessTokenTTL Duration `name:"access-token-ttl" default:"720h" help:"how long a session's access token is valid"`
	AuthTokenTTL   Duration `name:"auth-token-ttl" default:"1h" help:"how long a token of the authentication endpoint is valid"`

	RequestTimeout   Duration `name:"request-timeout" default:"10s" help:"longest time a request may take"`
	StatementTimeout Duration `name:"statement-timeout" default:"3s" help:"longest time one SQL statement may take; a lost region makes statements hang until then"`
	MaxBodyBytes     Size     `name:"max-body-bytes" default:"1MiB" help:"largest request body"`
	MaxHeaderBytes   Size     `name:"max-header-bytes" default:"64KiB" help:"largest request header"`

	PublicURL      BaseURL    `name:"public-url" help:"address at which clients reach this region, like https://eu.api.example.com; the addresses of files begin with it; empty: the listening address"`
	StorageURL     StorageURL `name:"storage-url" help:"where the bytes of files are kept: a folder (/srv/files), or s3://, gs:// or azblob:// and a bucket; empty: files can be neither uploaded nor downloaded"`
	StorageURLUS   StorageURL `name:"storage-url-us" help:"the same for the files whose home is us; empty: storage-url. Every server has to reach the storage of each home"`
	StorageURLEU   StorageURL `name:"storage-url-eu" help:"the same for eu"`
	StorageURLSG   StorageURL `name:"storage-url-sg" help:"the same for sg"`
	MaxFileBytes   Size       `name:"max-file-bytes" default:"1GiB" help:"largest uploaded file"`
	MaxImagePixels Count      `name:"max-image-pixels" default:"50000000" help:"most pixels of an uploaded image, as width times height; the memory that one upload may take grows with it"`
	StripGPS       Switch     `name:"strip-gps" default:"false" help:"true: images lose their position, in what is told of them and in the bytes that are served, with all other metadata of the bytes but orientation and colour"`
	FileURLTTL     Duration   `name:"file-url-ttl" default:"24h" help:"how long the signed address of a file of access type network holds, at least"`
	UploadTimeout  Duration   `name:"upload-timeout" default:"1h" help:"longest time an upload may take"`

	CORSOrigins Origins `name:"cors-origins" help:"origins whose pages may call, like https://app.example.com, separated by commas; empty: every origin"`

	DrainDelay      Delay    `name:"drain-delay" default:"5s" help:"time between /readyz turning 503 and the end of new connections"`
	ShutdownTimeout Duration `name:"shutdown-timeout" default:"20s" help:"longest wait for requests that are under way at the end"`

	LogLevel  LogLevel            `name:"log-level" default:"info" help:"debug, info, warn or error"`
	LogFormat telemetry.LogFormat `name:"log-format" default:"json" help:"json or text"`
}

// Default returns the configuration that the defaults alone give.
func Default() Config {
	var c Config
	for _, s := range settingsOf(&c) {
		if s.def == "" {
			continue
		}
		if err := s.set(s.def); err != nil {
			panic("config: default of " + s.name + ": " + err.Error()) // a programming error; a test reads every default
		}
	}
	return c
}

// DatabaseURLs returns the URL to use for the rows of each home.
func (c Config) DatabaseURLs() map[region.Code]string {
	own := map[region.Code]telemetry.SecretURL{
		region.US: c.DatabaseURLUS, region.EU: c.DatabaseURLEU, region.SG: c.DatabaseURLSG,
	}
	urls := make(map[region.Code]string, len(own))
	for home, url := range own {
		if url == "" {
			url = c.DatabaseURL
		}
		urls[home] = url.Reveal()
	}
	return urls
}

// Localities returns the CockroachDB region that keeps the rows of each home.
func (c Config) Localities() map[region.Code]string {
	return map[region.Code]string{
		region.US: string(c.LocalityUS), region.EU: string(c.LocalityEU), region.SG: string(c.LocalitySG),
	}
}

// StorageURLs returns where the bytes of each home's files are kept; homes without storage are left out.
func (c Config) StorageURLs() map[region.Code]string {
	urls := map[region.Code]string{}
	for home, own := range map[region.Code]StorageURL{region.US: c.StorageURLUS, region.EU: c.StorageURLEU, region.SG: c.StorageURLSG} {
		if address := cmp.Or(own, c.StorageURL); address != "" {
			urls[home] = string(address)
		}
	}
	return urls
}

// LogValue makes a configuration that lands in a log show no secret.
func (c Config) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 32)
	for _, line := range c.Redacted() {
		attrs = append(attrs, slog.String(line.Name, line.Value))
	}
	return slog.GroupValue(attrs...)
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Std returns d as the standard library's type.
func (d Delay) Std() time.Duration { return time.Duration(d) }
