package app

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/plaza-social/plaza/platform/statusz"
)

// serve adds the report's handlers to the operations listener.
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
// an unknown key and compares in constant time. It changes and logs nothing. The API answers the same question to
// anyone who can reach it, and guessing 256 bits is infeasible in both places.
func (r *report) serveServerKey(w http.ResponseWriter, request *http.Request) {
	var asked statusz.ServerKeyRequest
	body := http.MaxBytesReader(w, request.Body, maxKeyRequest)
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil || asked.Key == "" {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, `want {"key": "…"}`, http.StatusBadRequest) // the decoder's error would quote the body
		return
	}
	_, _ = io.Copy(io.Discard, body)
	var answer statusz.ServerKeyAnswer
	if answer.ID, answer.Valid = r.serverKeys.Check(asked.Key); answer.Valid {
		info, _ := r.serverKeys.Status().Info(answer.ID)
		answer.NotAfter = info.NotAfter
	}
	answerJSON(w, answer)
}

func answerJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer)
}
