package backup

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2/google"
)

// Open opens the folder of the destination, with its credentials or, without any, with the identity of the machine.
func (d Destination) Open(ctx context.Context) (*blob.Bucket, error) {
	bucket, err := d.openBucket(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the backups of %s: %w", d.Home, err)
	}
	if d.Folder == "" {
		return bucket, nil
	}
	return blob.PrefixedBucket(bucket, d.Folder+"/"), nil
}

func (d Destination) openBucket(ctx context.Context) (*blob.Bucket, error) {
	if d.Scheme == "gs" {
		return d.openGoogle(ctx)
	}
	return d.openAmazon(ctx)
}

func (d Destination) openAmazon(ctx context.Context) (*blob.Bucket, error) {
	options := []func(*awsconfig.LoadOptions) error{}
	if d.Region != "" {
		options = append(options, awsconfig.WithRegion(d.Region))
	}
	if len(d.credentials) > 0 {
		options = append(options, awsconfig.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(
			d.credentials[AccessKeyID], d.credentials[SecretAccessKey], d.credentials[SessionToken])))
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		if d.Endpoint != "" { // as CockroachDB addresses the bucket at an endpoint
			o.BaseEndpoint, o.UsePathStyle = aws.String(d.Endpoint), true
		}
	})
	return s3blob.OpenBucket(ctx, client, d.Bucket, nil)
}

func (d Destination) openGoogle(ctx context.Context) (*blob.Bucket, error) {
	found, err := d.googleCredentials(ctx)
	if err != nil {
		return nil, err
	}
	client, err := gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(found))
	if err != nil {
		return nil, err
	}
	return gcsblob.OpenBucket(ctx, client, d.Bucket, nil)
}

const googleScope = "https://www.googleapis.com/auth/devstorage.read_write"

func (d Destination) googleCredentials(ctx context.Context) (*google.Credentials, error) {
	if len(d.credentials) == 0 {
		return gcp.DefaultCredentials(ctx)
	}
	return google.CredentialsFromJSONWithType(ctx, []byte(d.credentials[GoogleKey]), google.ServiceAccount, googleScope)
}
