package store

import "github.com/plaza-social/plaza/platform/store/db"

// Server is a row of servers: a running server.
type Server struct {
	ID           string
	Version      string
	Capabilities []string
}

// CapabilityMoves is the capability of servers that follow where the rows of moved users are, see db.Routes. All others look for
// them at the home that the id contains.
const CapabilityMoves = "moves"

var serverColumns = db.Columns[Server]()

// A server announces itself several times a minute. The database's clock is the one that all servers share.
var (
	sqlServerAnnounce = stmt("servers.announce", `INSERT INTO servers (home, id, version, capabilities, seen_at) VALUES ($1, $2, $3, $4::text[], now())
		ON CONFLICT (home, id) DO UPDATE SET version = excluded.version, capabilities = excluded.capabilities, seen_at = excluded.seen_at`)
	sqlServersSweep   = stmt("servers.sweep", `DELETE FROM servers WHERE home = $1 AND seen_at < now() - INTERVAL '1 day'`)
	sqlServerWithdraw = stmt("servers.withdraw", `DELETE FROM servers WHERE home = $1 AND id = $2`)
	sqlServersWithout = stmt("servers.without", `SELECT `+serverColumns+` FROM servers
		WHERE home = $1 AND seen_at > now() - INTERVAL '1 minute' AND NOT $2::text = ANY(capabilities) ORDER BY seen_at DESC LIMIT 10`)
)

// AnnounceServer records that a server is running, and deletes the rows of those that stopped long ago.
func (w *Tx) AnnounceServer(s Server) {
	w.Exec(sqlServersSweep)
	w.Exec(sqlServerAnnounce, s.ID, s.Version, emptyIfNil(s.Capabilities))
}

// WithdrawServer records that a server stops.
func (w *Tx) WithdrawServer(id string) { w.Exec(sqlServerWithdraw, id) }

// ServersWithout reads up to 10 running servers of each home that lack a capability.
func (r *ReadBatch) ServersWithout(capability string, into *[]Server) {
	*into = nil
	readEveryHome(r, sqlServersWithout, into, capability)
}
