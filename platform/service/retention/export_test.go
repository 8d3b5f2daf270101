package retention

// FeedsPerPage is the number of subchannels that are read at a time.
const FeedsPerPage = feedsPerPage

// KindNamed returns one of the kinds of the service.
func (s *Service) KindNamed(name string) Kind {
	for _, k := range s.kinds {
		if k.Name == name {
			return k
		}
	}
	panic("no kind " + name)
}
