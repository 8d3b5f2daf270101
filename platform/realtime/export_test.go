package realtime

// Streams is how many streams a hub has open, over all homes.
func (h *Hub) Streams() int {
	n := 0
	for _, t := range h.tails {
		n += len(t.streams())
	}
	return n
}
