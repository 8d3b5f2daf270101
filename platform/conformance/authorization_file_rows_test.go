package conformance

import "testing"

func fileRows() []row {
	uploaded := func(more object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"fileId": upload(t, g.author, "file", "walk", []byte("x"))["fileId"]}, more)
		}
	}
	return []row{
		{procedure: "FileService/GetFile", request: uploaded(nil), want: everyone},
		{procedure: "FileService/UpdateFile", request: uploaded(object{"altText": "x"}), want: adminsOnly},
		{procedure: "FileService/DeleteFile", request: uploaded(nil), want: adminsOnly},
	}
}
