package app

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/plaza-social/plaza/platform/statusz"
)

// serve adds the report to the operations listener.
func (r *report) serve(mux *http.ServeMux) {
	mux.HandleFunc("GET "+statusz.Path, r.serveStatus)
	mux.HandleFunc("POST "+statusz.ServerKeyPath, r.serveServerKey)
}

// serveStatus tells what the server runs. What the database knows is asked anew: whoever pushed settings wants to see
// them. The answer comes without it where the database does not answer in time.
func (r *report) serveStatus(w http.ResponseWriter, request *http.Request) {
	r.refresh(request.Context())
	answerJSON(w, r.status())
}

// maxKeyRequest bounds the body of a question about a key.
const maxKeyRequest = 4 << 10

// serveServerKey tells whether a server key is one that this process accepts, as the API would: with a fresh look at the
// file for a key that it does not know, and in constant time for one file. It changes nothing and logs nothing. Whoever
// can ask here can ask the API the same question, where guessing 256 bits is as hopeless.
func (r *report) serveServerKey(w http.ResponseWriter, request *http.Request) {
	var asked statusz.ServerKeyRequest
	body := http.MaxBytesReader(w, request.Body, maxKeyRequest)
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil || asked.Key == "" {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, `want {"key": "…"}`, http.StatusBadRequest) // the decoder's own words would quote the body
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
