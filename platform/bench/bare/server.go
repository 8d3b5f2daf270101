// Package bare implements three operations of the API without the platform: a net/http handler each, which verifies the
// token, sends the platform's own SQL through pgx in the same number of round trips, scans the rows into structs and
// encodes them with encoding/json. `make bench` compares the platform with it.
//
// It does only what these operations need in one region: no other protocols, only essential checks of requests, and no
// error bodies, request ids, logs, limits or compression.
package bare

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Config configures a Server.
type Config struct {
	DatabaseURL     string      `json:"databaseUrl"`     // PostgreSQL URL of the database
	NetworkID       string      `json:"networkId"`       // 24 hexadecimal characters
	SigningKeysFile string      `json:"signingKeysFile"` // the platform's key file
	Home            region.Code `json:"home"`            // home of the rows
	PoolSize        int32       `json:"poolSize"`        // maximum number of database connections
}

// Server serves the operations. It is safe for concurrent use.
type Server struct {
	networkID  string
	home       region.Code
	pool       *pgxpool.Pool
	sql        map[string]string // by name in package store
	tokens     *verifier
	roundTrips prometheus.Counter
}

// New opens the pool. It registers the number of round trips, under the same name as the platform.
func New(ctx context.Context, cfg Config, registerer prometheus.Registerer) (*Server, error) {
	tokens, err := openVerifier(cfg.SigningKeysFile, cfg.NetworkID)
	if err != nil {
		return nil, err
	}
	address, err := dburl.Parse(cfg.DatabaseURL)
	if err != nil {
		return nil, err
	}
	pc, err := pgxpool.ParseConfig(address.Reveal())
	if err != nil {
		return nil, errors.New(address.Redact(err.Error())) // it contains the URL with its password
	}
	pc.MaxConns = cfg.PoolSize
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, err
	}
	s := &Server{
		networkID: cfg.NetworkID, home: cfg.Home, pool: pool, tokens: tokens, sql: map[string]string{},
		roundTrips: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "plaza_database_round_trips_total", Help: "Round trips to the database.",
		}),
	}
	for _, statement := range store.Statements() {
		s.sql[statement.Name] = statement.SQL
	}
	return s, registerer.Register(s.roundTrips)
}

// Close closes the pool.
func (s *Server) Close() { s.pool.Close() }

// Handler returns the handler of the operations.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v3/posts/{id}", s.serve(s.getPost))
	mux.HandleFunc("GET /api/v3/community-feeds/{id}", s.serve(s.listFeed))
	mux.HandleFunc("POST /api/v4/posts", s.serve(s.createPost))
	return mux
}

// statusError is a response without a body.
type statusError int

func (e statusError) Error() string { return http.StatusText(int(e)) }

// serve verifies the token, runs the operation and writes its result.
func (s *Server) serve(operation func(context.Context, *http.Request, claims) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		c, err := s.tokens.verify(r)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer, err := operation(ctx, r, c)
		var body []byte
		if err == nil {
			body, err = json.Marshal(answer)
		}
		if err != nil {
			writeError(ctx, w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // fails if the client has disconnected
	}
}

func writeError(ctx context.Context, w http.ResponseWriter, err error) {
	status, ok := errors.AsType[statusError](err)
	if !ok {
		slog.ErrorContext(ctx, "operation failed", "error", err)
		status = http.StatusInternalServerError
	}
	w.WriteHeader(int(status))
}
