// Threads that work on one list together.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace polyrelu {

/// A consecutive part of the positions in a list.
struct Range {
    std::size_t begin, end;
};

/// Threads that wait for work until the team ends; the caller is one of its members.
class Team {
public:
    explicit Team(std::size_t size) : problems_(size) {
        for (std::size_t member = 1; member < size; ++member)
            threads_.emplace_back([this, member] { serve(member); });
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
            ++num_tasks_;
        }
        has_work_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    std::size_t size() const { return problems_.size(); }

    /// Call the task with each member, the caller being member 0, and with its part of a list of
    /// `count` entries; return when all are done. An exception of a task is thrown again.
    void share(std::size_t count, const std::function<void(std::size_t, Range)>& task) {
        {
            const std::lock_guard lock(mutex_);
            task_ = &task;
            count_ = count;
            num_busy_ = threads_.size();
            ++num_tasks_;
        }
        has_work_.notify_all();
        work(0);
        std::unique_lock lock(mutex_);
        is_done_.wait(lock, [this] { return num_busy_ == 0; });
        for (std::exception_ptr& problem : problems_)
            if (const std::exception_ptr found = std::exchange(problem, nullptr))
                std::rethrow_exception(found);
    }

private:
    void work(std::size_t member) {
        try {
            (*task_)(member, {count_ * member / size(), count_ * (member + 1) / size()});
        } catch (...) {
            problems_[member] = std::current_exception();
        }
    }
    void serve(std::size_t member) {
        for (std::size_t num_seen = 0;;) {
            {
                std::unique_lock lock(mutex_);
                has_work_.wait(lock, [&] { return num_tasks_ != num_seen; });
                num_seen = num_tasks_;
                if (is_over_) return;
            }
            work(member);
            const std::lock_guard lock(mutex_);
            if (--num_busy_ == 0) is_done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable has_work_, is_done_;
    const std::function<void(std::size_t, Range)>* task_ = nullptr;
    std::size_t count_ = 0, num_tasks_ = 0, num_busy_ = 0;
    bool is_over_ = false;
    /// What each member's part of the last task has thrown.
    std::vector<std::exception_ptr> problems_;
    std::vector<std::thread> threads_;
};

/// Copies of a worker, one for each member of a team, which divide lists of independent entries.
template <class Worker>
class Copies {
public:
    Copies(const Worker& worker, std::size_t num_threads)
        : workers_(std::max<std::size_t>(num_threads, 1), worker) {
        if (workers_.size() > 1) team_ = std::make_unique<Team>(workers_.size());
    }

    const Worker& first() const { return workers_.front(); }

    /// Call `task(worker, range)` with the parts of a list of `count` entries, on all threads.
    template <class Task>
    void share(std::size_t count, const Task& task) {
        if (!team_ || count < 2)
            task(workers_.front(), Range{0, count});
        else
            team_->share(count, [&](std::size_t member, Range part) {
                task(workers_[member], part);
            });
    }

private:
    std::vector<Worker> workers_;
    std::unique_ptr<Team> team_;
};

}  // namespace polyrelu
