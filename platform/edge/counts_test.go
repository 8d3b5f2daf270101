package edge

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCounts(t *testing.T) {
	t.Parallel()
	var counts Counts
	for _, status := range []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		counts.add("plaza.v1.PostService/GetPost", status)
		counts.add(procedureUnknown, status)
		(*Counts)(nil).add("plaza.v1.PostService/GetPost", status)
	}
	total, failed := counts.Read()
	require.Equal(t, [2]int64{4, 2}, [2]int64{total, failed})
}
