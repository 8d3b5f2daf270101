package app

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"

	"github.com/plaza-social/plaza/platform/statusz"
)

// serve adds the report's handlers to the control listener, or without one to the operations listener.
func (r *report) serve(mux *http.ServeMux) {
	mux.HandleFunc("GET "+statusz.Path, r.serveStatus)
	mux.HandleFunc("POST "+statusz.ServerKeyPath, r.serveServerKey)
}

// serveStatus responds with the status. It reads the state of the database first, because clients want to see settings
// that they have just pushed. If the database does not respond in time, the last known state is used.
func (r *report) serveStatus(w http.ResponseWriter, request *http.Request) {
	r.refresh(request.Context())
	answerJSON(w, r.status())
}

// maxKeyRequest limits the size of a ServerKeyRequest.
const maxKeyRequest = 4 << 10

// serveServerKey reports whether this process accepts a server key, exactly as the API would: it re-reads the file for
// an unknown key and compares in constant time. It changes and logs nothing. A request names the key by its id, and the answer has
// a digest that proves that the server has the key. From the digest the key cannot be computed, because it has 256 random bits.
func (r *report) serveServerKey(w http.ResponseWriter, request *http.Request) {
	var asked statusz.ServerKeyRequest
	body := http.MaxBytesReader(w, request.Body, maxKeyRequest)
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil || !isComplete(asked) {
		w.Header().Set("Cache-Control", "no-store")
		// The decoder's error would quote the body.
		http.Error(w, `want {"id": "…", "nonce": "…"} with a nonce of 32 to 128 bytes`, http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, body)
	var answer statusz.ServerKeyAnswer
	answer.Digest, answer.Valid = r.serverKeys.Digest(asked.ID, func(hash [sha256.Size]byte) string {
		return statusz.ServerKeyDigest(hash, asked.ID, asked.Nonce)
	})
	if answer.Valid {
		answer.ID = asked.ID
		info, _ := r.serverKeys.Status().Info(answer.ID)
		answer.NotAfter = info.NotAfter
	}
	answerJSON(w, answer)
}

// isComplete reports whether a request has an id and a nonce.
func isComplete(asked statusz.ServerKeyRequest) bool {
	return asked.ID != "" && len(asked.Nonce) >= statusz.MinNonce && len(asked.Nonce) <= statusz.MaxNonce
}

func answerJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}
