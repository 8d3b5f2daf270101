package realtime

// Streams returns the number of open streams of all homes.
func (h *Hub) Streams() int {
	n := 0
	for _, t := range h.tails {
		n += len(t.open())
	}
	return n
}
