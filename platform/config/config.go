// Package config defines the configuration of one region's server: a struct that is filled from defaults, a YAML file,
// PLAZA_* environment variables and flags, in order of increasing precedence.
//
// The `name` tag of a field determines its names: the key in the file is the tag (statement-timeout), the variable is
// PLAZA_ and the tag in upper case (PLAZA_STATEMENT_TIMEOUT), the flag is -- and the tag (--statement-timeout). A
// secret can also be given as the path of a file that contains it: directory-key-file, PLAZA_DIRECTORY_KEY_FILE, …
package config

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// Config is the configuration of one region's server. Durations are written like 3s or 720h, sizes like 1MiB or
// 1048576.
//
// Tags: name determines all names; default is the lowest layer; help describes the flag, also in README.md; serve marks
// settings that `plaza serve` requires.
type Config struct {
	Region    region.Code `name:"region" serve:"required" help:"region of this server: us, eu or sg"`
	NetworkID NetworkID   `name:"network-id" serve:"required" help:"id of the network: 24 lowercase hexadecimal characters"`

	Listen    Address `name:"listen" default:":8080" help:"address of the API (REST, Connect, gRPC and gRPC-Web on one port)"`
	OpsListen Address `name:"ops-listen" default:"127.0.0.1:9080" help:"address of the operations endpoints: /livez, /readyz, /metrics, and without control-listen /statusz; must not be public"`

	ControlListen   Address `name:"control-listen" help:"address of the control endpoints, with mutual TLS, for the operator: /statusz, network settings, profiles; if empty, there are none"`
	ControlCertFile string  `name:"control-cert-file" help:"file with the certificate (PEM) of the control endpoints; re-read when it changes"`
	ControlKeyFile  string  `name:"control-key-file" help:"file with the private key (PEM) of control-cert-file"`
	ControlCAFile   string  `name:"control-ca-file" help:"file with the certificates (PEM) of the authorities that issue the operator's certificate; re-read when it changes"`
	Pprof           Switch  `name:"pprof" default:"false" help:"true serves Go profiles at /debug/pprof of the control endpoints"`

	TLSCertFile string `name:"tls-cert-file" help:"file with the certificate chain (PEM) with which the API is served over TLS; re-read when it changes; if empty, the API is served without TLS"`
	TLSKeyFile  string `name:"tls-key-file" help:"file with the private key (PEM) of tls-cert-file"`

	DatabaseURL   dburl.URL `name:"database-url" serve:"required" help:"PostgreSQL URL of the database, like postgresql://user:password@host:5432/plaza; special characters of the password must be percent-encoded, like # as %23; optional if the URL of a home is set"`
	DatabaseURLUS dburl.URL `name:"database-url-us" help:"URL for rows whose home is us, for example of the nearest nodes; default: database-url"`
	DatabaseURLEU dburl.URL `name:"database-url-eu" help:"like database-url-us, for eu"`
	DatabaseURLSG dburl.URL `name:"database-url-sg" help:"like database-url-us, for sg"`
	// DatabaseOwnerURL is for plaza migrate only.
	DatabaseOwnerURL dburl.URL `name:"database-owner-url" help:"URL with a role that may change the schema, for plaza migrate; default: database-url"`
	PoolSize         PoolSize  `name:"pool-size" default:"8" help:"maximum number of database connections per home"`

	LocalityUS    Locality    `name:"locality-us" default:"us-east1" help:"CockroachDB region of rows whose home is us; used by plaza migrate"`
	LocalityEU    Locality    `name:"locality-eu" default:"europe-west1" help:"CockroachDB region of rows whose home is eu"`
	LocalitySG    Locality    `name:"locality-sg" default:"asia-southeast1" help:"CockroachDB region of rows whose home is sg"`
	PrimaryRegion region.Code `name:"primary-region" default:"us" help:"home whose CockroachDB region stores rows without a home"`
	Survive       Survive     `name:"survive" default:"zone" help:"failure that the CockroachDB database survives: zone, or region, for which all regions have replicas of all rows"`

	ServerKeysFile  string           `name:"server-keys-file" serve:"required" help:"file with the server keys; re-read when it changes"`
	EvacuationFile  string           `name:"evacuation-file" help:"file with the regions that are evacuated to this one, which the operator writes: their server keys are accepted, and their background work is done; re-read when it changes; if it does not exist, there are none"`
	APIKeysFile     string           `name:"api-keys-file" serve:"required" help:"file with the API keys; re-read when it changes"`
	SigningKeysFile string           `name:"signing-keys-file" serve:"required" help:"file with the keys that sign tokens; re-read when it changes"`
	DirectoryKey    telemetry.Secret `name:"directory-key" serve:"required" help:"secret for the keyed hash of user ids in the directory; must never change"`

	MediaKey         telemetry.Secret `name:"media-key" help:"secret that authenticates the media server; if empty, reports of a media server are rejected"`
	MediaIngestURL   MediaURL         `name:"media-ingest-url" help:"URL to which broadcasters stream, such as rtmp://ingest.example.com/live; if empty, streams have no ingest URL"`
	MediaPlaybackURL MediaURL         `name:"media-playback-url" help:"URL at which streams are watched, such as https://play.example.com/live; if empty, streams have no playback URL"`

	AccessTokenTTL Duration `name:"access-token-ttl" default:"720h" help:"validity of access tokens"`
	AuthTokenTTL   Duration `name:"auth-token-ttl" default:"1h" help:"validity of tokens issued by the authentication endpoint"`

	RequestTimeout     Duration `name:"request-timeout" default:"10s" help:"time limit of a request"`
	StatementTimeout   Duration `name:"statement-timeout" default:"3s" help:"time limit of a SQL statement; statements on an unreachable region hang until then"`
	MaxBodyBytes       Size     `name:"max-body-bytes" default:"1MiB" help:"maximum size of a request body"`
	MaxHeaderBytes     Size     `name:"max-header-bytes" default:"64KiB" help:"maximum size of a request header"`
	MaxConnections     Count    `name:"max-connections" default:"10000" help:"maximum number of connections to the API. Connections without a request make way for further ones; if there is none, these wait"`
	AddressConnections Count    `name:"max-connections-per-address" default:"2500" help:"maximum number of connections to the API from an address; further ones are refused, unless one without a request makes way. The addresses of trusted-proxies have no maximum, nor has any if trusted-proxies is a number"`
	ResponseMemory     Size     `name:"response-memory" default:"256MiB" help:"memory for responses of 16 KiB or more that clients have not read yet; when it is used up, such responses wait up to the request timeout and then fail with 503"`

	PublicURL      BaseURL    `name:"public-url" help:"URL at which clients reach this region, like https://eu.api.example.com; prefix of file URLs; default: the listening address"`
	StorageURL     StorageURL `name:"storage-url" help:"storage of file contents: a directory (/srv/files), or s3://, gs:// or azblob:// and a bucket; if empty, files cannot be uploaded or downloaded"`
	StorageURLUS   StorageURL `name:"storage-url-us" help:"storage of files whose home is us; default: storage-url. Every server must reach the storage of every home"`
	StorageURLEU   StorageURL `name:"storage-url-eu" help:"like storage-url-us, for eu"`
	StorageURLSG   StorageURL `name:"storage-url-sg" help:"like storage-url-us, for sg"`
	MaxFileBytes   Size       `name:"max-file-bytes" default:"1GiB" help:"maximum size of an uploaded file"`
	MaxImagePixels Count      `name:"max-image-pixels" default:"50000000" help:"maximum number of pixels of an uploaded image (width times height); determines the maximum memory of an upload"`
	StripGPS       Switch     `name:"strip-gps" default:"true" help:"removes the position of images from their metadata, and from served images all metadata except orientation and colour; false serves images as they were uploaded"`
	FileURLTTL     Duration   `name:"file-url-ttl" default:"24h" help:"minimum validity of signed URLs: of files with access type network, and of files in private places"`
	UploadTimeout  Duration   `name:"upload-timeout" default:"1h" help:"time limit of an upload"`

	RateLimit           ratelimit.Limit   `name:"rate-limit" default:"100/5s" help:"requests per user, like 100/5s; off turns off every rate limit. The network setting rateLimit takes precedence, if it is set"`
	SessionRateLimit    ratelimit.Limit   `name:"session-rate-limit" default:"100/1m" help:"sessions created from an address"`
	APIKeyRateLimit     ratelimit.Limit   `name:"api-key-rate-limit" default:"1000/10s" help:"sessions created with an API key"`
	CredentialRateLimit ratelimit.Limit   `name:"credential-rate-limit" default:"100/1m" help:"wrong tokens and keys from an address"`
	DownloadRateLimit   ratelimit.Limit   `name:"download-rate-limit" default:"1000/5s" help:"downloads without a token from an address"`
	TrustedProxies      ratelimit.Proxies `name:"trusted-proxies" help:"proxies whose X-Forwarded-For names the client: how many there are (1), or their addresses (10.0.0.0/8,192.0.2.7); if empty, the address of the connection counts"`

	MaxSessions      Count `name:"max-sessions" default:"100" help:"sessions of a user; a further one ends the oldest"`
	DailyUploads     Count `name:"daily-uploads" default:"1000" help:"files that a user can upload per day (in UTC)"`
	DailyUploadBytes Size  `name:"daily-upload-bytes" default:"20GiB" help:"bytes that a user can upload per day"`
	DailyChannels    Count `name:"daily-channels" default:"500" help:"channels and conversations that a user can create per day"`
	DailyCommunities Count `name:"daily-communities" default:"200" help:"communities that a user can create per day"`

	RankingAge          Delay    `name:"ranking-age" default:"10s" help:"how long a server uses the ranking of trending communities before it reads it again"`
	LinkPreviewNetworks Networks `name:"link-preview-networks" help:"networks, like 10.1.0.0/16, whose pages link previews show although their addresses are not public, at any port; if empty, only public addresses are fetched"`
	WebhookNetworks     Networks `name:"webhook-networks" help:"networks, like 10.1.0.0/16, in which webhooks and the pre-hook can be although their addresses are not public, at any port; if empty, only public addresses at the ports 80 and 443 are called"`

	PushFCMCredentials telemetry.Secret `name:"push-fcm-credentials" help:"JSON of the service account that sends push notifications by FCM; if empty, nothing is sent by FCM"`
	PushFCMURL         BaseURL          `name:"push-fcm-url" default:"https://fcm.googleapis.com" help:"address of FCM"`
	PushAPNsKey        telemetry.Secret `name:"push-apns-key" help:"PEM of the key (.p8) that signs the provider tokens of APNs; if empty, nothing is sent by APNs"`
	PushAPNsKeyID      string           `name:"push-apns-key-id" help:"id of push-apns-key"`
	PushAPNsTeamID     string           `name:"push-apns-team-id" help:"id of the team that push-apns-key belongs to"`
	PushAPNsTopic      string           `name:"push-apns-topic" help:"bundle id of the app"`
	PushAPNsURL        BaseURL          `name:"push-apns-url" default:"https://api.push.apple.com" help:"address of APNs; https://api.sandbox.push.apple.com for development builds of the app"`
	PushWebKey         telemetry.Secret `name:"push-web-key" help:"VAPID private key of Web Push: 32 bytes in base64url; if empty, nothing is sent by Web Push"`
	PushWebSubject     string           `name:"push-web-subject" help:"mail address or https URL at which push services reach the network's operator; required with push-web-key"`
	PushWebNetworks    Networks         `name:"push-web-networks" help:"networks, like 10.1.0.0/16, whose push services are used although their addresses are not public, at any port"`
	PushLocal          Switch           `name:"push-local" default:"false" help:"true keeps the latest notifications of providers without credentials at /pushes of the operations endpoints, for development"`

	CORSOrigins Origins `name:"cors-origins" help:"origins allowed by CORS, like https://app.example.com, separated by commas; if empty, all origins are allowed"`

	DrainDelay      Delay    `name:"drain-delay" default:"5s" help:"time between /readyz returning 503 and the server rejecting connections"`
	ShutdownTimeout Duration `name:"shutdown-timeout" default:"20s" help:"time limit for requests in progress at shutdown"`

	LogLevel  LogLevel            `name:"log-level" default:"info" help:"debug, info, warn or error"`
	LogFormat telemetry.LogFormat `name:"log-format" default:"json" help:"json or text"`
	AccessLog Share               `name:"access-log" default:"1/1" help:"which requests have a line in the log: one in n (1/n) or off; requests that fail because of the server always have one, and at log-level debug all have"`
}

// Default returns the configuration of the defaults.
func Default() Config {
	var c Config
	for _, s := range settingsOf(&c) {
		if s.def == "" {
			continue
		}
		if err := s.set(s.def); err != nil {
			panic("config: default of " + s.name + ": " + err.Error()) // a programming error; a test parses every default
		}
	}
	return c
}

// DatabaseURLs returns the database URL for the rows of each home.
func (c Config) DatabaseURLs() map[region.Code]string {
	urls := map[region.Code]string{}
	for home, own := range c.ownDatabaseURLs() {
		urls[home] = cmp.Or(own, c.DatabaseURL).Reveal()
	}
	return urls
}

func (c Config) ownDatabaseURLs() map[region.Code]dburl.URL {
	return byHome(c.DatabaseURLUS, c.DatabaseURLEU, c.DatabaseURLSG)
}

// commonDatabaseURL returns the URL for all homes: database-url, else the URL of the server's own region, else any. All
// URLs lead to the same database and therefore to every row, with different latency.
func (c Config) commonDatabaseURL() dburl.URL {
	return cmp.Or(c.DatabaseURL, c.ownDatabaseURLs()[c.Region], c.DatabaseURLUS, c.DatabaseURLEU, c.DatabaseURLSG)
}

func byHome[T any](us, eu, sg T) map[region.Code]T {
	return map[region.Code]T{region.US: us, region.EU: eu, region.SG: sg}
}

// MigrationURL returns the database URL of plaza migrate.
func (c Config) MigrationURL() dburl.URL { return cmp.Or(c.DatabaseOwnerURL, c.DatabaseURL) }

// Localities returns the CockroachDB region of each home's rows.
func (c Config) Localities() map[region.Code]string {
	return byHome(string(c.LocalityUS), string(c.LocalityEU), string(c.LocalitySG))
}

// StorageURLs returns the storage of each home's files; homes without storage are absent.
func (c Config) StorageURLs() map[region.Code]string {
	urls := map[region.Code]string{}
	for home, own := range byHome(c.StorageURLUS, c.StorageURLEU, c.StorageURLSG) {
		if address := cmp.Or(own, c.StorageURL); address != "" {
			urls[home] = string(address)
		}
	}
	return urls
}

// LogValue returns the configuration without secrets.
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
