# Sidekiq: produce URL COUNT; the worker is started by sidekiq's own command, with the URL in the environment.
require "redis"
require "sidekiq"

URL = ENV.fetch("APP_URL")
Sidekiq.configure_server { |config| config.redis = { url: URL } }
Sidekiq.configure_client { |config| config.redis = { url: URL } }

class Mark
  include Sidekiq::Worker
  sidekiq_options queue: "low", retry: 25

  def perform(job)
    Sidekiq.redis { |connection| connection.sadd("done", job) }
  end
end

if ARGV[0] == "produce"
  ARGV[2].to_i.times do |i|
    if i % 10 == 1
      Mark.perform_in(1 + i % 3, "job-#{i}")
    else
      Mark.set(queue: %w[high low][i % 2]).perform_async("job-#{i}")
    end
  end
end
